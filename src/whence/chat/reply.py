"""Turns the text of an answerer into the text for the client: validates citations, restores the documents' brackets. Pure."""

from collections.abc import Sequence

from whence.chat.citing import CitationStream, Validated
from whence.chat.passages import Passage
from whence.text.prompt_escaping import restore_brackets


class ReplyStream:
    """`feed` returns the text that is final, `close` the rest. The pieces make up `text`."""

    def __init__(self, passages: Sequence[Passage], *, masked: bool) -> None:
        """With `masked`, the answerer saw the passages with replaced brackets (see `prompt_escaping`)."""
        self._citing = CitationStream(passages)
        self._masked = masked
        self._validated: list[str] = []
        self._pieces: list[str] = []

    def feed(self, piece: str) -> str:
        return self._given(self._citing.feed(piece))

    def close(self) -> str:
        return self._given(self._citing.close())

    @property
    def validated(self) -> Validated:
        """The validator's output. Its text differs from `text` only in the documents' brackets, so offsets agree."""
        cited, code = tuple(self._citing.cited), tuple(self._citing.code)
        return Validated(text="".join(self._validated), cited=cited, code=code)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def _given(self, validated: str) -> str:
        piece = restore_brackets(validated) if self._masked else validated
        self._validated.append(validated)
        self._pieces.append(piece)
        return piece
