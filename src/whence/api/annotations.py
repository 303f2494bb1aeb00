"""A completion's text with citations in the style that the client wants, and where they are in it."""

from collections.abc import Sequence
from typing import Literal

from whence import links
from whence.api.base import AnswerShape
from whence.api.chat import ChatCitation
from whence.chat import Answer, Citation, Source
from whence.chat.citing.restyle import CitationStyle, Mark, Numbers, Restyled

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
    """The text of an answer, piece by piece, then its citations."""

    def __init__(self, sources: Sequence[Source], style: CitationStyle, *, footnotes: bool) -> None:
        self._sources = {source.id: source for source in sources if source.id}
        self._style = style
        self._footnotes = footnotes
        self._numbers = Numbers()
        self._text = Restyled(sources, self._mark)

    def with_sources(self, sources: Sequence[Source]) -> "StyledAnswer":
        """The same style for an answer from these sources."""
        return StyledAnswer(sources, self._style, footnotes=self._footnotes)

    def feed(self, piece: str) -> str:
        return self._text.feed(piece)

    def end(self, answer: Answer) -> str:
        """The rest of the text, and the footnotes."""
        rest = self._text.close()
        if not self._footnotes or not self._text.marks:
            return rest
        notes = [
            self._footnote(chunk_id, answer) for chunk_id in dict.fromkeys(one.id for one in self._text.marks)
        ]
        return "\n".join([f"{rest}\n", *notes])

    def whole(self, answer: Answer) -> str:
        return self.feed(answer.response) + self.end(answer)

    def annotations(self, answer: Answer) -> list[Annotation]:
        return [
            Annotation(
                type="url_citation",
                url_citation=UrlCitation(
                    start_index=mark.start,
                    end_index=mark.end,
                    title=self._title(mark.id, _cited_by(answer, mark)),
                    url=self._url(mark.id, _cited_by(answer, mark)),
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

    def _mark(self, chunk_id: str) -> str:
        if self._style == "none":
            return ""
        if self._style == "id":
            return f"[{chunk_id}]"
        number = f"[{self._numbers(chunk_id)}]"
        return number if self._style == "number" else f"{number}({self._url(chunk_id, None)})"

    def _footnote(self, chunk_id: str, answer: Answer) -> str:
        label = {"none": "-", "id": f"[{chunk_id}]"}.get(self._style, f"[{self._numbers(chunk_id)}]")
        cited = [one for one in answer.citations if one.chunk_id == chunk_id and one.quote]
        quotes = "; ".join(dict.fromkeys(f"“{_flat(one.quote or '')}”" for one in cited))
        title = self._title(chunk_id, cited[0] if cited else None)
        return f"{label} {title}: {quotes}" if quotes else f"{label} {title}"

    def _title(self, chunk_id: str, cited: Citation | None) -> str:
        source = self._sources[chunk_id]
        page = source.page if cited is None else cited.page
        return source.name if page is None else f"{source.name}, page {page}"

    def _url(self, chunk_id: str, cited: Citation | None) -> str:
        """To the quote, else to the chunk. Without an address of the server it is a path: the protocol needs a text."""
        source = self._sources[chunk_id]
        start, end = (source.start, source.end)
        if cited is not None and cited.start_offset is not None:
            start, end = cited.start_offset, cited.end_offset
        path = links.document_path(
            source.document_id or "", version=source.document_version, start=start, end=end
        )
        return links.absolute(path) or path


def _cited_by(answer: Answer, mark: Mark) -> Citation | None:
    """The citation of the sentence that the mark is in."""
    for one in answer.citations:
        if one.chunk_id == mark.id and one.response_start <= mark.old_start < one.response_end:
            return one
    return None


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_SHOWN else flat[: _QUOTE_SHOWN - 1] + "…"
