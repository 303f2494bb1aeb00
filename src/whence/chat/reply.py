"""Turns the text of an answerer into the text for the client: validates citations, restores the documents' brackets. Pure."""

from collections.abc import Sequence

from whence.chat.citing import CitationStream, Validated
from whence.chat.sources import Source
from whence.text.prompt_escaping import restore_brackets


class ReplyStream:
    """`feed` returns the text that is final, `close` the rest. The pieces make up `text`."""

    def __init__(self, sources: Sequence[Source], *, masked: bool) -> None:
        """With `masked`, the answerer saw the sources with replaced brackets (see `prompt_escaping`)."""
        self._citing = CitationStream(sources)
        self._restore = restore_brackets if masked else str

    def feed(self, piece: str) -> str:
        return self._restore(self._citing.feed(piece))

    def close(self) -> str:
        return self._restore(self._citing.close())

    @property
    def validated(self) -> Validated:
        """The validator's output. Its text differs from `text` only in the documents' brackets, so offsets agree."""
        return self._citing.validated

    @property
    def text(self) -> str:
        return self._restore(self.validated.text)
