"""What a chat costs beside its model: everything but the model's own time, against the search alone.

    python -m benchmarks.chat [--rounds 40] [--data ../shared/data/retrieval]

A project of one of the corpora of `benchmarks.retrieval`, embedded by the local model, is asked real questions three ways in
turn: searched; answered by a model that answers at once, with a citation for each passage; and answered by quoting.
"""

import argparse
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import uvloop
from benchmarks.results import Result, report
from benchmarks.retrieval import DATA, questions, shelve

from whence.app import App, choose_answerer
from whence.chat import Asked, Chat
from whence.providers import NOTHING_PASSED_ON, Completion, JSONSchema, Message, PassedOn
from whence.search import Question
from whence.settings import Settings

TARGET = 1.3
ALONE = "search alone"
_SENTENCE = "The question is answered by the passages that were found and by nothing else [{}]. "


class Instant:
    """A chat model that takes no time."""

    provider = "bench"
    model = "instant"

    async def stream(
        self, messages: Sequence[Message], *, max_tokens: int, passed_on: PassedOn = NOTHING_PASSED_ON
    ) -> AsyncGenerator[str | Completion, None]:
        del messages, max_tokens, passed_on
        pieces = [_SENTENCE.format(number) for number in range(1, 6)]
        for piece in pieces:
            yield piece
        yield _completed("".join(pieces))

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0,
        schema: JSONSchema | None = None,
    ) -> Completion:
        del messages, max_tokens, temperature, schema
        return _completed(_SENTENCE)

    async def check(self) -> str:
        return "it answers"

    async def aclose(self) -> None:
        pass


def _completed(text: str) -> Completion:
    return Completion(text=text, prompt_tokens=None, completion_tokens=None, model="instant", finish="stop")


async def measured(data: Path, rounds: int) -> dict[str, float]:
    """Medians in milliseconds."""
    asked = questions(data)
    corpus = asked[0].corpus
    with tempfile.TemporaryDirectory() as folder:
        async with App.open(Settings(data_dir=Path(folder))) as app:
            project_id = await shelve(app, data, corpus, [corpus])
            chats = {
                name: Chat(app.store, app.search, choose_answerer(app.settings, model))
                for name, model in (("chat, model at once", Instant()), ("chat, quoting", None))
            }

            async def search(question: str) -> None:
                await app.search.find(project_id, Question(query=question, limit=8))

            def asking(chat: Chat) -> Callable[[str], Awaitable[object]]:
                return lambda question: chat.answer(project_id, Asked(message=question))

            ways: dict[str, Callable[[str], Awaitable[object]]] = {ALONE: search}
            ways |= {name: asking(chat) for name, chat in chats.items()}
            times: dict[str, list[float]] = {name: [] for name in ways}
            texts = [one.question for one in asked if one.corpus == corpus][: rounds + 3]
            for turn, text in enumerate(texts):
                for name, way in ways.items():
                    began = perf_counter()
                    await way(text)
                    if turn >= 3:  # the first ones load the model and fill caches
                        times[name].append((perf_counter() - began) * 1000)
    return {name: median(taken) for name, taken in times.items()}


def results(data: Path, rounds: int = 40) -> list[Result]:
    medians = uvloop.run(measured(data, rounds))
    alone = medians.pop(ALONE)
    return [
        Result(
            what=name,
            figure=f"{taken:.1f} ms, {taken / alone:.2f} x the search alone ({alone:.1f} ms)",
            target=f"<= {TARGET} x",
            met=taken / alone <= TARGET,
        )
        for name, taken in medians.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    sys.exit(not report(results(options.data, options.rounds)))


if __name__ == "__main__":
    main()
