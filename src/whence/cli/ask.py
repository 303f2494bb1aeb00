"""`whence ask`: an answer from the documents, with footnotes."""

import os
import re
from contextlib import aclosing
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import click

from whence.cli import options
from whence.cli.command import Api, App, find_project, named_project, on_api
from whence.cli.output import print_notes, printable, printed_json, shorten, wants_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from whence.api.chat import ChatAnswer, ChatCitation, ChatQuestion, ChatSource, VerifiedEvent
    from whence.chat import Source

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
@click.option("--verify", is_flag=True, default=None, help="Let the model judge each citation.")
@click.option("--store", is_flag=True, default=None, help="Store the answer in a new conversation.")
@click.option("--conversation", metavar="ID", help="Ask in this conversation and store the answer there.")
@click.option("--include-ungrounded", is_flag=True, help="Also use ungrounded values, which no chunk states.")
@click.option(
    "--evidence",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write the evidence to a file: HTML, or PROV-JSON if it ends with .json.",
)
@options.json
@on_api
async def ask(
    api: Api,
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

    The answer comes from the configured model; without one, it quotes sentences. Works with and without a running server. The
    exit code is 1 if the model failed, and 0 if nothing was found.
    """
    from whence.api.chat import ChatQuestion

    if evidence is not None and not os.access(evidence.parent, os.W_OK | os.X_OK):
        raise click.BadParameter(f"No file can be written in {evidence.parent}.", param_hint="--evidence")
    if evidence is not None and api.app is None and conversation is None:
        store = True  # a server makes evidence files of stored answers only
    given = {"message": question, "limit": limit, "verify": verify, "store": store}
    given |= {"conversationId": conversation, "includeUngrounded": include_ungrounded}
    asked = options.read_usage(ChatQuestion, given)
    if not (wants_json() or no_stream):
        answer, notes = await _print_stream(_stream(api, project, asked))
        _print_notes(answer, notes)
    else:
        answer = await _get_answer(api, project, asked)
        if not printed_json(answer):
            notes = Footnotes(answer.sources)
            click.echo(notes.feed(answer.response) + notes.close())
            _print_notes(answer, notes)
    if evidence is not None:
        as_json = evidence.suffix == ".json"
        if api.app is None:
            content = await _fetch_evidence(api, answer, as_json=as_json)
        else:
            content = await _make_evidence(api.app, project, question, answer, as_json=as_json)
        with click.open_file(str(evidence), "wb") as out:
            out.write(content)
        click.echo(f"Evidence in {evidence}", err=True)


async def _get_answer(api: Api, project: str, asked: "ChatQuestion") -> "ChatAnswer":
    from whence.api.chat import ChatAnswer
    from whence.store.keys import EVERYONE

    if api.app is None:
        return await api.send("POST", "/chat", ChatAnswer, _build_request(asked, project))
    project_id = (await find_project(api.app, project)).id
    return ChatAnswer.of(await api.app.conversations.answer(project_id, asked, EVERYONE))


def _build_request(asked: "ChatQuestion", project: str) -> dict[str, Any]:
    given = asked.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {**given, "project": named_project(project)}


async def _fetch_evidence(api: Api, answer: "ChatAnswer", *, as_json: bool) -> bytes:
    path = f"/answers/{answer.answer_id}/evidence.{'json' if as_json else 'html'}"
    return b"".join([part async for part in api.client.stream_bytes("GET", path)])


async def _make_evidence(
    app: App, project: str, question: str, answer: "ChatAnswer", *, as_json: bool
) -> bytes:
    import orjson

    from whence.conversations.shown import show_unstored
    from whence.evidence_files import as_html, of_answer
    from whence.evidence_files import as_json as prov

    shown = show_unstored((await find_project(app, project)).id, question, answer)
    file = await of_answer(app.store, app.evidence, shown)
    return orjson.dumps(prov(file)) if as_json else as_html(file).encode()


class Footnotes:
    """A response for the terminal, with footnote numbers in place of chunk ids, in order of appearance.

    If the documents have numbered notes, which an answer may repeat, footnotes get letters instead. The citation validator
    recognises citations. An id in code, or an id of no source, stays as it is.
    """

    def __init__(self, sources: "Sequence[ChatSource]") -> None:
        from whence.chat.citing.restyle import Restyled

        self.labels: dict[str, str] = {}
        self._has_marks = any(_MARK.search(source.chunk_text) for source in sources)
        self._text = Restyled(
            [_make_citable(source) for source in sources], lambda cited: f"[{self._assign_label(cited.id)}]"
        )
        self._written = ""

    def feed(self, piece: str) -> str:
        """The part of the text that is final after this piece."""
        return self._print(self._text.feed(piece))

    def close(self) -> str:
        return self._print(self._text.close())

    def sentence(self, start: int, end: int) -> str:
        """A part of the response, with labels in place of its citations."""
        return self._written[self._text.at(start) : self._text.at(end)]

    def _assign_label(self, chunk_id: str) -> str:
        place = len(self.labels)
        following = ascii_lowercase[place] if self._has_marks else str(place + 1)
        return self.labels.setdefault(chunk_id, following)

    def _print(self, text: str) -> str:
        shown = printable(text, keep="\n\t")
        self._written += shown
        return shown


def _make_citable(source: "ChatSource") -> "Source":
    """Converts a source for the citation validator."""
    from whence.chat import Source

    return Source(
        id=source.id,
        document_id=source.document_id,
        chunk_index=source.chunk_index,
        text=source.chunk_text,
        name=source.source,
    )


async def _stream(
    api: Api, project: str, asked: "ChatQuestion"
) -> "AsyncGenerator[list[ChatSource] | str | ChatAnswer | VerifiedEvent]":
    """The sources, the pieces of the text, the answer, and its judged citations."""
    from whence.api.chat import ChatAnswer, SourcesEvent, VerifiedEvent, sources_of
    from whence.chat import Answer, Sources
    from whence.store.keys import EVERYONE

    if api.app is None:
        async for name, event in api.client.chat_events(_build_request(asked, project)):
            if name == "sources":
                yield api.read(SourcesEvent, event).sources
            elif name == "token":
                yield str(event["text"])
            elif name == "done":
                yield api.read(ChatAnswer, event)
            elif name == "verified":
                yield api.read(VerifiedEvent, event)
        return
    project_id = (await find_project(api.app, project)).id
    async with aclosing(api.app.conversations.stream(project_id, asked, EVERYONE)) as events:
        async for happened in events:
            if isinstance(happened, str):
                yield happened
            elif isinstance(happened, Sources):
                yield sources_of(happened)
            else:
                yield ChatAnswer.of(happened) if isinstance(happened, Answer) else VerifiedEvent.of(happened)


async def _print_stream(
    events: "AsyncGenerator[list[ChatSource] | str | ChatAnswer | VerifiedEvent]",
) -> "tuple[ChatAnswer, Footnotes]":
    from whence.api.chat import ChatAnswer, VerifiedEvent

    notes = Footnotes(())
    has_begun = False
    answer: ChatAnswer | None = None
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, list):
                    notes = Footnotes(event)
                elif isinstance(event, str):
                    click.echo(notes.feed(event), nl=False)
                    has_begun = True
                elif isinstance(event, ChatAnswer):
                    click.echo(notes.close())
                    answer = event
                elif isinstance(event, VerifiedEvent) and answer is not None:
                    judged = {"citations": event.citations, "notes": event.notes}
                    answer = answer.model_copy(update=judged)
    except Exception:  # the error goes on its own line, below the text so far
        if has_begun and answer is None:
            click.echo(notes.close())
        raise
    if answer is None:
        raise RuntimeError("a stream that does not fail has an answer")
    return answer, notes


def _print_notes(answer: "ChatAnswer", notes: Footnotes) -> None:
    """Prints what follows the text of an answer: footnotes, unsupported sentences, the model."""
    sources = {source.id: source for source in answer.sources}
    if notes.labels:
        click.echo()
    for chunk_id, label in notes.labels.items():
        click.echo(f"[{label}] ", nl=False)
        cited = [one for one in answer.citations if str(one.chunk_id) == chunk_id and one.origin == "model"]
        _print_quotes(sources[chunk_id], cited)
    for one in answer.citations:
        if one.origin == "attributed":
            sentence = printable(answer.response[one.response_start : one.response_end])
            click.echo(f"\n[+] No citation in the answer, but a source supports it: {_flatten(sentence)}")
            _print_quotes(sources[str(one.chunk_id)], [one])
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
    if answer.prompt_eval_count is not None and answer.eval_count is not None:
        tokens = f" ({answer.prompt_eval_count} and {answer.eval_count} tokens)"
    ident = answer.answer_id
    stored = f" Stored as {ident} in conversation {answer.conversation_id}." if ident else ""
    click.secho(f"\nAnswered by {printable(answer.model)}{tokens}.{stored}", dim=True)


def _print_quotes(source: "ChatSource", citations: "Sequence[ChatCitation]") -> None:
    pages = sorted({one.page for one in citations if one.page is not None})
    where = f", page {', '.join(map(str, pages))}" if pages else ""
    click.echo(f"{click.style(printable(source.source), bold=True)}{where}")
    for quote, level in dict.fromkeys((one.quote, one.support_level) for one in citations if one.quote):
        click.echo(f"    “{_flatten(printable(quote))}” ({level})")


def _flatten(text: str) -> str:
    return shorten(" ".join(text.split()), _SHOWN)
