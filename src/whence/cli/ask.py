"""`whence ask`: an answer from the documents, with footnotes."""

import re
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

import click

from whence.cli import options
from whence.cli.command import App, find_project, on_app
from whence.cli.output import print_notes, printable, printed_json, shorten, wants_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from whence.api.chat import ChatQuestion
    from whence.chat import Answer, Citation, Source

_SHOWN = 300
_MARK = re.compile(r"(?<![\w\])])\[\d{1,3}\]")
"""A note number in a document, such as [1]; not an array index."""


@click.command()
@click.argument("question")
@options.project
@click.option(
    "--limit",
    type=int,
    default=8,
    show_default=True,
    help="Maximum number of chunks to answer from, 1 to 20.",
)
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete.")
@click.option("--verify", is_flag=True, default=None, help="Have the model judge each citation.")
@click.option("--store", is_flag=True, default=None, help="Store the answer in a new conversation.")
@click.option("--conversation", metavar="ID", help="Ask in this conversation and store the answer there.")
@click.option("--include-ungrounded", is_flag=True, help="Also use values that no chunk states.")
@click.option(
    "--evidence",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write the evidence to a file: HTML, or PROV-JSON if it ends with .json.",
)
@options.json
@on_app
async def ask(
    app: App,
    *,
    question: str,
    project: str,
    limit: int,
    no_stream: bool,
    verify: bool | None,
    store: bool | None,
    conversation: str | None,
    include_ungrounded: bool,
    evidence: Path | None,
) -> None:
    """Answer QUESTION from the documents. Footnotes have the file, the page and the quote.

    The settings name the model; without one, sentences are quoted. Works with and without a running server. The exit
    code is 0 also if nothing was found, and 1 if the model failed.
    """
    from whence.api.chat import ChatAnswer, ChatQuestion
    from whence.store.keys import EVERYONE

    given = {"message": question, "limit": limit, "verify": verify, "store": store}
    given |= {"conversationId": conversation, "includeUngrounded": include_ungrounded}
    asked = options.read_usage(ChatQuestion, given)
    project_id = (await find_project(app, project)).id
    if not (wants_json() or no_stream):
        answer, notes = await _stream(app, project_id, asked)
        _print_notes(answer, notes)
    else:
        answer = await app.conversations.answer(project_id, asked, EVERYONE)
        if not printed_json(ChatAnswer.of(answer)):
            notes = Footnotes(answer.sources)
            click.echo(notes.feed(answer.response) + notes.close())
            _print_notes(answer, notes)
    if evidence is not None:
        await _write_evidence(app, project_id, question, answer, evidence)


async def _write_evidence(app: App, project_id: "UUID", question: str, answer: "Answer", path: Path) -> None:
    import orjson

    from whence.api.chat import ChatAnswer
    from whence.conversations.shown import show_unstored
    from whence.evidence_files import as_html, as_json, of_answer

    shown = show_unstored(project_id, question, ChatAnswer.of(answer))
    file = await of_answer(app.store, app.evidence, shown)
    content = orjson.dumps(as_json(file)) if path.suffix == ".json" else as_html(file).encode()
    with click.open_file(str(path), "wb") as out:
        out.write(content)
    click.echo(f"Evidence in {path}", err=True)


class Footnotes:
    """A response for the terminal, with footnote numbers in place of chunk ids, in order of appearance.

    If the documents have numbered notes, which an answer may repeat, footnotes get letters instead. The citation validator
    decides what is a citation: an id in code, or of no source, stays as it is.
    """

    def __init__(self, sources: "Sequence[Source]") -> None:
        from whence.chat.citing.restyle import Restyled

        self.labels: dict[str, str] = {}
        self._has_marks = any(_MARK.search(source.text) for source in sources)
        self._text = Restyled(sources, lambda chunk_id: f"[{self._label(chunk_id)}]")
        self._written = ""

    def feed(self, piece: str) -> str:
        """The text that is final after this piece."""
        return self._print(self._text.feed(piece))

    def close(self) -> str:
        return self._print(self._text.close())

    def sentence(self, start: int, end: int) -> str:
        """A part of the response, with labels for its citations."""
        return self._written[self._text.at(start) : self._text.at(end)]

    def _label(self, chunk_id: str) -> str:
        place = len(self.labels)
        following = ascii_lowercase[place] if self._has_marks else str(place + 1)
        return self.labels.setdefault(chunk_id, following)

    def _print(self, text: str) -> str:
        shown = printable(text, keep="\n\t")
        self._written += shown
        return shown


async def _stream(app: App, project_id: "UUID", asked: "ChatQuestion") -> "tuple[Answer, Footnotes]":
    from contextlib import aclosing

    from whence.chat import Answer, Sources, Verified
    from whence.errors import WhenceError
    from whence.store.keys import EVERYONE

    notes = Footnotes(())
    has_begun = False
    answer: Answer | None = None
    try:
        async with aclosing(app.conversations.stream(project_id, asked, EVERYONE)) as events:
            async for event in events:
                if isinstance(event, Sources):
                    notes = Footnotes(event.sources)
                elif isinstance(event, str):
                    click.echo(notes.feed(event), nl=False)
                    has_begun = True
                elif isinstance(event, Answer):
                    click.echo(notes.close())
                    answer = event
                elif isinstance(event, Verified) and answer is not None:
                    answer = event.in_answer(answer)
    except WhenceError:  # the error goes on its own line, below the text so far
        if has_begun and answer is None:
            click.echo(notes.close())
        raise
    if answer is None:
        raise RuntimeError("a stream that does not fail has an answer")
    return answer, notes


def _print_notes(answer: "Answer", notes: Footnotes) -> None:
    """Prints what follows the text of an answer: footnotes, unsupported sentences, the model."""
    sources = {source.id: source for source in answer.sources}
    if notes.labels:
        click.echo()
    for chunk_id, label in notes.labels.items():
        click.echo(f"[{label}] ", nl=False)
        cited = [one for one in answer.citations if one.chunk_id == chunk_id and one.origin == "model"]
        _print_quotes(sources[chunk_id], cited)
    for one in answer.citations:
        if one.origin == "attributed":
            sentence = printable(answer.response[one.response_start : one.response_end])
            click.echo(f"\n[+] Cites nothing, but has a source: {_flatten(sentence)}")
            _print_quotes(sources[one.chunk_id], [one])
    unsupported = dict.fromkeys(
        (
            one.chunk_id and one.support_level,
            notes.sentence(one.response_start, one.response_end),
        )
        for one in answer.citations
        if not one.supported
    )
    for level, sentence in unsupported:
        what = f"Not supported by what it cites ({level})" if level else "No source"
        click.secho(f"\n[!] {what}: {_flatten(sentence)}", fg="yellow")
    for one in answer.citations:
        if one.judgement not in (None, "entailed"):
            sentence = notes.sentence(one.response_start, one.response_end)
            click.secho(f"\n[!] {one.judged_by} finds it {one.judgement}: {_flatten(sentence)}", fg="yellow")
    print_notes(answer.notes)
    tokens = ""
    if answer.prompt_tokens is not None and answer.completion_tokens is not None:
        tokens = f" ({answer.prompt_tokens} and {answer.completion_tokens} tokens)"
    stored = f" Stored as {answer.id} in conversation {answer.conversation_id}." if answer.id else ""
    click.secho(f"\nAnswered by {printable(answer.model)}{tokens}.{stored}", dim=True)


def _print_quotes(source: "Source", citations: "Sequence[Citation]") -> None:
    pages = sorted({one.page for one in citations if one.page is not None})
    where = f", page {', '.join(map(str, pages))}" if pages else ""
    click.echo(f"{click.style(printable(source.name), bold=True)}{where}")
    for quote, level in dict.fromkeys((one.quote, one.support_level) for one in citations if one.quote):
        click.echo(f"    “{_flatten(printable(quote))}” ({level})")


def _flatten(text: str) -> str:
    return shorten(" ".join(text.split()), _SHOWN)
