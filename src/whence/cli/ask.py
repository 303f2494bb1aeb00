"""`whence ask`: an answer from the documents, with footnotes."""

import re
from bisect import bisect_left
from string import ascii_lowercase
from typing import TYPE_CHECKING

import click

from whence.cli.output import json_option, print_json, printable, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.app import App
    from whence.chat import Answer, Asked, Citation, Source

_SHOWN = 300
_MARK = re.compile(r"(?<![\w\])])\[\d{1,3}\]")
"""A note number in a document, such as [1]; not an array index."""


@click.command()
@click.argument("question")
@click.option("--project", default="default", show_default=True, help="A project's name or id.")
@click.option(
    "--limit", type=int, default=8, show_default=True, help="From how many chunks at most, 1 to 20."
)
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete, not as it comes.")
@json_option
def ask(question: str, *, project: str, limit: int, no_stream: bool, as_json: bool) -> None:
    """Answer QUESTION from the documents. Footnotes tell the file, the page and the words it stands on.

    The model is the one in the settings; without one, sentences are quoted. It needs no running server, and does not
    mind one. Exits 0 also where nothing was found, and 1 where the model failed.
    """
    from whence.api.chat import ChatAnswer, ChatQuestion
    from whence.api.reading import read
    from whence.errors import BadInput

    try:
        asked = read(ChatQuestion, {"message": question, "limit": limit}).asked()
    except BadInput as exc:
        raise click.UsageError(exc.message) from exc

    async def work(app: "App") -> "tuple[Answer, Footnotes]":
        from whence.cli.projects import find

        project_id = (await find(app, project)).id
        if as_json or no_stream:
            answer = await app.chat.answer(project_id, asked)
            return answer, Footnotes(answer.sources)
        return await _printed(app, project_id, asked)

    answer, notes = with_app(work, connections=4)
    if as_json:
        print_json(ChatAnswer.of(answer))
        return
    if no_stream:
        click.echo(notes.feed(answer.response) + notes.close())
    _print_below(answer, notes)


class Footnotes:
    """A response for the terminal, with footnote numbers in place of chunk ids, in order of appearance.

    If the documents have numbered notes, which an answer may repeat, footnotes get letters instead. The citation validator
    decides what is a citation: an id in code, or of no source, stays as it is.
    """

    def __init__(self, sources: "Sequence[Source]") -> None:
        from whence.chat.citing import CitationStream

        self.labels: dict[str, str] = {}
        self._has_marks = any(_MARK.search(source.text) for source in sources)
        self._reading = CitationStream(sources, numbered=False)
        self._read = 0

    def feed(self, piece: str) -> str:
        """The text that is final after this piece."""
        return self._next(self._reading.feed(piece))

    def close(self) -> str:
        return self._next(self._reading.close())

    def numbered(self, text: str, start: int) -> str:
        """`text`, which begins at `start` in the response, with labels for its citations."""
        parts: list[str] = []
        at = 0
        cited = self._reading.cited
        for one in cited[bisect_left(cited, start, key=lambda one: one.start) :]:
            if one.end > start + len(text):
                break
            parts += (text[at : one.start - start], f"[{self._label(one.id)}]")
            at = one.end - start
        return _visible("".join([*parts, text[at:]]))

    def _label(self, chunk_id: str) -> str:
        place = len(self.labels)
        following = ascii_lowercase[place] if self._has_marks else str(place + 1)
        return self.labels.setdefault(chunk_id, following)

    def _next(self, text: str) -> str:
        start = self._read
        self._read += len(text)
        return self.numbered(text, start)


async def _printed(app: "App", project_id: "UUID", asked: "Asked") -> "tuple[Answer, Footnotes]":
    from contextlib import aclosing

    from whence.chat import Answer, Sources
    from whence.errors import WhenceError

    notes = Footnotes(())
    has_said = False
    try:
        async with aclosing(app.chat.stream(project_id, asked)) as events:
            async for event in events:
                if isinstance(event, Sources):
                    notes = Footnotes(event.sources)
                elif isinstance(event, str):
                    click.echo(notes.feed(event), nl=False)
                    has_said = True
                elif isinstance(event, Answer):
                    click.echo(notes.close())
                    return event, notes
    except WhenceError:  # the error goes on its own line, below the text so far
        if has_said:
            click.echo(notes.close())
        raise
    raise RuntimeError("a stream that does not fail ends with the answer")


def _print_below(answer: "Answer", notes: Footnotes) -> None:
    sources = {source.id: source for source in answer.sources}
    if notes.labels:
        click.echo()
    for chunk_id, label in notes.labels.items():
        _print_footnote(
            label, sources[chunk_id], [one for one in answer.citations if one.chunk_id == chunk_id]
        )
    unsupported = dict.fromkeys(
        (one.chunk_id is None, notes.numbered(_sentence(answer, one), one.response_start))
        for one in answer.citations
        if not one.supported
    )
    for cites_nothing, sentence in unsupported:
        what = "No source" if cites_nothing else "Not supported by what it cites"
        click.secho(f"\n[!] {what}: {_short(sentence)}", fg="yellow")
    for note in answer.notes:
        click.secho(note, err=True, fg="yellow")
    click.secho(f"\nAnswered by {printable(answer.model)}{_effort(answer)}.", dim=True)


def _sentence(answer: "Answer", citation: "Citation") -> str:
    return answer.response[citation.response_start : citation.response_end]


def _print_footnote(label: str, source: "Source", citations: "Sequence[Citation]") -> None:
    pages = sorted({one.page for one in citations if one.page is not None})
    where = f", page {', '.join(map(str, pages))}" if pages else ""
    click.echo(f"[{label}] {click.style(printable(source.name), bold=True)}{where}")
    for quote in dict.fromkeys(one.quote for one in citations if one.quote):
        click.echo(f"    “{_short(printable(quote))}”")


def _effort(answer: "Answer") -> str:
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return ""
    return f" ({answer.prompt_tokens} and {answer.completion_tokens} tokens)"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"


def _visible(text: str) -> str:
    """Replaces terminal control characters; keeps line breaks and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
