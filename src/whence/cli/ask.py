"""`whence ask`: an answer from the documents, with footnotes."""

import re
from typing import TYPE_CHECKING

import click

from whence.cli.output import json_option, print_json, printable, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.app import App
    from whence.chat import Answer, Asked, Citation, Source

_CITED = re.compile(r"\[([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\]")
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
    notes = Footnotes()

    async def work(app: "App") -> "Answer":
        from whence.cli.projects import find

        project_id = (await find(app, project)).id
        if as_json or no_stream:
            return await app.chat.answer(project_id, asked)
        return await _printed(app, project_id, asked, notes)

    answer = with_app(work, connections=4)
    if as_json:
        print_json(answer_as_json(answer))
        return
    if no_stream:
        click.echo(notes.numbered(answer.response))
    _print_below(answer, notes)


class Footnotes:
    """Numbers for the chunks that are cited, in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def numbered(self, text: str) -> str:
        """Any piece of a response as a terminal may show it: a citation is never cut in two."""
        return _visible(_CITED.sub(lambda cited: f"[{self._number(cited[1])}]", text))

    def _number(self, chunk_id: str) -> int:
        return self.numbers.setdefault(chunk_id, len(self.numbers) + 1)


async def _printed(app: "App", project_id: "UUID", asked: "Asked", notes: Footnotes) -> "Answer":
    from contextlib import aclosing

    from whence.chat import Answer

    async with aclosing(app.chat.stream(project_id, asked)) as events:
        async for event in events:
            if isinstance(event, str):
                click.echo(notes.numbered(event), nl=False)
            elif isinstance(event, Answer):
                click.echo()
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
        answer.response[one.response_start : one.response_end]
        for one in answer.citations
        if not one.supported
    )
    for sentence in unsupported:
        click.secho(f"\n[!] Not supported by what it cites: {_short(notes.numbered(sentence))}", fg="yellow")
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
