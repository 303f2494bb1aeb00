"""A completion's text with citations in the style that the client wants, and where they are in it."""

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
    """As OpenAI has it: `content[start_index:end_index]` is the citation."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class StyledAnswer:
    """The text of an answer, piece by piece, then its citations.

    Links in the text go to quotes, which are known at the end: with them, all text after the first citation comes at the end.
    """

    def __init__(self, sources: Sequence[Source], style: CitationStyle, *, footnotes: bool) -> None:
        self._sources = {source.id: source for source in sources if source.id}
        self._style = style
        self._footnotes = footnotes
        self._numbers = Numbers()
        self._answer: Answer | None = None
        self._written, self._sent = "", 0
        self._text = Restyled(sources, self._mark)

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
            self._text = Restyled(answer.sources, self._mark)
            rest = (self._text.feed(answer.response) + self._text.close())[self._sent :]
        else:
            rest = self._text.close()
        if not self._footnotes or not self._text.marks:
            return rest
        notes = [
            self._footnote(chunk_id, answer) for chunk_id in dict.fromkeys(one.id for one in self._text.marks)
        ]
        return "\n".join([f"{rest}\n", *notes])

    def cut(self) -> str:
        """The text held back, for an answer that broke off: without quotes its citations are numbers, not links."""
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
                    title=self._title(mark.id, _cited_by(answer, mark.id, mark.old_start)),
                    url=self._url(mark.id, _cited_by(answer, mark.id, mark.old_start)),
                ),
            )
            for mark in self._text.marks
        ]

    def citations(self, answer: Answer) -> list[ChatCitation]:
        """With the places of their sentences in this text."""
        return [
            ChatCitation.of(
                one,
                response_start=self._text.at(one.response_start),
                response_end=self._text.at(one.response_end),
            )
            for one in answer.citations
        ]

    def number(self, one: Citation) -> int:
        """The number that its source has in this text."""
        return self._numbers(one.chunk_id or "")

    def url(self, one: Citation) -> str:
        return self._url(one.chunk_id or "", one)

    def _mark(self, one: Cited) -> str:
        if self._style == "none":
            return ""
        if self._style == "id":
            return f"[{one.id}]"
        number = f"[{self._numbers(one.id)}]"
        if self._answer is None:
            return number
        return f"{number}({self._url(one.id, _cited_by(self._answer, one.id, one.start))})"

    def _footnote(self, chunk_id: str, answer: Answer) -> str:
        label = {"none": "-", "id": f"[{chunk_id}]"}.get(self._style, f"[{self._numbers(chunk_id)}]")
        quotes: dict[str, list[str]] = {}
        for one in answer.citations:
            if one.chunk_id == chunk_id and one.quote:
                quotes.setdefault(self._title(chunk_id, one), []).append(f"“{_flat(one.quote)}”")
        found = [f"{title}: {'; '.join(dict.fromkeys(said))}" for title, said in quotes.items()]
        return f"{label} {'; '.join(found) or self._title(chunk_id, None)}"

    def _title(self, chunk_id: str, cited: Citation | None) -> str:
        source = self._sources[chunk_id]
        page = source.page if cited is None else cited.page
        return source.name if page is None else f"{source.name}, page {page}"

    def _url(self, chunk_id: str, cited: Citation | None) -> str:
        """To the quote, else to the chunk. Without an address of the server it is a path: the protocol needs a text."""
        source = self._sources[chunk_id]
        if source.document_id is None:
            return f"urn:lightrag:{chunk_id}"
        start, end = (source.start, source.end)
        if cited is not None and cited.start_offset is not None:
            start, end = cited.start_offset, cited.end_offset
        path = links.document_path(source.document_id, version=source.document_version, start=start, end=end)
        return links.absolute(path) or path


def _cited_by(answer: Answer, chunk_id: str, place: int) -> Citation | None:
    """The citation of the sentence that is at this place of the response."""
    for one in answer.citations:
        if one.chunk_id == chunk_id and one.response_start <= place < one.response_end:
            return one
    return None


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_SHOWN else flat[: _QUOTE_SHOWN - 1] + "…"
