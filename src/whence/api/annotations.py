"""Renders a completion's text with citations in the requested style, and records their positions."""

from collections.abc import Sequence
from typing import Literal

from whence import links
from whence.api.base import AnswerShape
from whence.api.chat import ChatCitation
from whence.chat import Answer, Citation, Source
from whence.chat.citing import Cited
from whence.chat.citing.restyle import CitationStyle, Numbers, Restyled

_QUOTE_SHOWN = 300


class UrlCitation(AnswerShape):
    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(AnswerShape):
    """OpenAI's annotation: `content[start_index:end_index]` is the citation."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class StyledAnswer:
    """The text of an answer, piece by piece, then its citations.

    With links in the text, all text after the first citation comes at the end, because the links lead to quotes that are only
    known then.
    """

    def __init__(self, sources: Sequence[Source], style: CitationStyle, *, footnotes: bool) -> None:
        self._sources = {source.id: source for source in sources if source.id}
        self._style = style
        self._footnotes = footnotes
        self._numbers = Numbers()
        self._answer: Answer | None = None
        self._written, self._sent = "", 0
        self._text = Restyled(sources, self._render_mark)

    def with_sources(self, sources: Sequence[Source]) -> "StyledAnswer":
        """The same style for an answer from these sources."""
        return StyledAnswer(sources, self._style, footnotes=self._footnotes)

    def feed(self, piece: str) -> str:
        text = self._text.feed(piece)
        if self._style != "markdown":
            return text
        self._written += text
        marks = self._text.marks
        start, self._sent = self._sent, marks[0].start if marks else len(self._written)
        return self._written[start : self._sent]

    def end(self, answer: Answer) -> str:
        """The rest of the text, and the footnotes."""
        if self._style == "markdown":
            self._answer = answer
            self._text = Restyled(answer.sources, self._render_mark)
            rest = (self._text.feed(answer.response) + self._text.close())[self._sent :]
        else:
            rest = self._text.close()
        if not self._footnotes or not self._text.marks:
            return rest
        notes = [
            self._render_footnote(chunk_id, answer)
            for chunk_id in dict.fromkeys(one.id for one in self._text.marks)
        ]
        return "\n".join([f"{rest}\n", *notes])

    def cut(self) -> str:
        """The text held back, for an interrupted answer. There are no quotes, so its citations are numbers, not links."""
        return (self._written[self._sent :] if self._style == "markdown" else "") + self._text.close()

    def whole(self, answer: Answer) -> str:
        return self.feed(answer.response) + self.end(answer)

    def annotations(self, answer: Answer) -> list[Annotation]:
        return [
            Annotation(
                type="url_citation",
                url_citation=UrlCitation(
                    start_index=mark.start,
                    end_index=mark.end,
                    title=self._name_source(mark.id, _find_citation(answer, mark.id, mark.old_start)),
                    url=self._link_to(mark.id, _find_citation(answer, mark.id, mark.old_start)),
                ),
            )
            for mark in self._text.marks
        ]

    def citations(self, answer: Answer) -> list[ChatCitation]:
        """The citations, with the positions of their sentences in this text."""
        return [
            ChatCitation.of(
                one,
                response_start=self._text.at(one.response_start),
                response_end=self._text.at(one.response_end),
            )
            for one in answer.citations
        ]

    def number(self, one: Citation) -> int:
        """The number of the citation's source in this text."""
        return self._numbers(one.chunk_id or "")

    def url(self, one: Citation) -> str:
        return self._link_to(one.chunk_id or "", one)

    def _render_mark(self, one: Cited) -> str:
        if self._style == "none":
            return ""
        if self._style == "id":
            return f"[{one.id}]"
        number = f"[{self._numbers(one.id)}]"
        if self._answer is None:
            return number
        return f"{number}({self._link_to(one.id, _find_citation(self._answer, one.id, one.start))})"

    def _render_footnote(self, chunk_id: str, answer: Answer) -> str:
        label = {"none": "-", "id": f"[{chunk_id}]"}.get(self._style, f"[{self._numbers(chunk_id)}]")
        quotes: dict[str, list[str]] = {}
        for one in answer.citations:
            if one.chunk_id == chunk_id and one.quote:
                quotes.setdefault(self._name_source(chunk_id, one), []).append(f"“{_flatten(one.quote)}”")
        found = [f"{title}: {'; '.join(dict.fromkeys(said))}" for title, said in quotes.items()]
        return f"{label} {'; '.join(found) or self._name_source(chunk_id, None)}"

    def _name_source(self, chunk_id: str, cited: Citation | None) -> str:
        source = self._sources[chunk_id]
        page = source.page if cited is None else cited.page
        return source.name if page is None else f"{source.name}, page {page}"

    def _link_to(self, chunk_id: str, cited: Citation | None) -> str:
        """A link to the quote, else to the chunk. Only a path if the server's address is unknown, because the protocol requires a
        text.
        """
        source = self._sources[chunk_id]
        if source.document_id is None:
            return f"urn:lightrag:{chunk_id}"
        start, end = (source.start, source.end)
        if cited is not None and cited.start_offset is not None:
            start, end = cited.start_offset, cited.end_offset
        path = links.document_path(source.document_id, version=source.document_version, start=start, end=end)
        return links.absolute(path) or path


def _find_citation(answer: Answer, chunk_id: str, place: int) -> Citation | None:
    """The citation of the sentence at this place of the response."""
    for one in answer.citations:
        if one.chunk_id == chunk_id and one.response_start <= place < one.response_end:
            return one
    return None


def _flatten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_SHOWN else flat[: _QUOTE_SHOWN - 1] + "…"
