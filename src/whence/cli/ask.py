"""`whence ask`: an answer from the documents, with footnotes."""

from bisect import bisect_left
from typing import TYPE_CHECKING

import click

from whence.cli.output import json_option, print_json, printable, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.app import App
    from whence.chat import Answer, Asked, Citation, Source

_SHOWN = 300


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
    from whence.errors import BadInput
    from whence.web.chatting import answer_as_json, asked_of
    from whence.web.fields import Fields

    try:
        asked = asked_of(Fields({"message": question, "limit": limit}))
    except BadInput as exc:
        raise click.UsageError(exc.message) from exc

    async def work(app: "App") -> "Answer":
        from whence.cli.projects import find

        project_id = (await find(app, project)).id
        if as_json or no_stream:
            return await app.chat.answer(project_id, asked)
        return await _printed(app, project_id, asked)

    answer = with_app(work, connections=4)
    if as_json:
        print_json(answer_as_json(answer))
        return
    notes = Footnotes(answer.sources)
    response = notes.feed(answer.response) + notes.close()
    if no_stream:
        click.echo(response)
    _print_below(answer, notes)


class Footnotes:
    """A response as a terminal may show it, with numbers for the chunks that it cites, in the order in which they come.

    The validator tells what cites: an id in code, or of nothing that is a source, stays as it is.
    """

    def __init__(self, sources: "Sequence[Source]") -> None:
        from whence.chat.citations import CitationStream

        self.numbers: dict[str, int] = {}
        self._reading = CitationStream([source.passage for source in sources], numbered=False)
        self._read = 0

    def feed(self, piece: str) -> str:
        """What is known of the response with this piece."""
        return self._next(self._reading.feed(piece))

    def close(self) -> str:
        return self._next(self._reading.close())

    def numbered(self, text: str, start: int) -> str:
        """What stands there in the response, as far as it was read."""
        parts: list[str] = []
        at = 0
        cited = self._reading.cited
        for one in cited[bisect_left(cited, start, key=lambda one: one.start) :]:
            if one.end > start + len(text):
                break
            number = self.numbers.setdefault(one.id, len(self.numbers) + 1)
            parts += (text[at : one.start - start], f"[{number}]")
            at = one.end - start
        return _visible("".join([*parts, text[at:]]))

    def _next(self, text: str) -> str:
        start = self._read
        self._read += len(text)
        return self.numbered(text, start)


async def _printed(app: "App", project_id: "UUID", asked: "Asked") -> "Answer":
    from contextlib import aclosing

    from whence.chat import Answer, Sources

    async with aclosing(app.chat.stream(project_id, asked)) as events:
        async for event in events:
            if isinstance(event, Sources):
                notes = Footnotes(event.sources)
            elif isinstance(event, str):
                click.echo(notes.feed(event), nl=False)
            elif isinstance(event, Answer):
                click.echo(notes.close())
                return event
    raise RuntimeError("a stream that does not fail ends with the answer")


def _print_below(answer: "Answer", notes: Footnotes) -> None:
    sources = {source.id: source for source in answer.sources}
    if notes.numbers:
        click.echo()
    for chunk_id, number in notes.numbers.items():
        _print_footnote(
            number, sources[chunk_id], [one for one in answer.citations if one.chunk_id == chunk_id]
        )
    unsupported = dict.fromkeys(
        notes.numbered(answer.response[one.response_start : one.response_end], one.response_start)
        for one in answer.citations
        if not one.supported
    )
    for sentence in unsupported:
        click.secho(f"\n[!] Not supported by what it cites: {_short(sentence)}", fg="yellow")
    for note in answer.notes:
        click.secho(note, err=True, fg="yellow")
    click.secho(f"\nAnswered by {printable(answer.model)}{_effort(answer)}.", dim=True)


def _print_footnote(number: int, source: "Source", citations: "Sequence[Citation]") -> None:
    pages = sorted({one.page for one in citations if one.page is not None})
    where = f", page {', '.join(map(str, pages))}" if pages else ""
    click.echo(f"[{number}] {click.style(printable(source.name), bold=True)}{where}")
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
    """Nothing in it speaks to the terminal; its lines stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
