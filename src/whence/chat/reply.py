"""What is written, by whomever, becomes what a client reads: citations validated, brackets of the documents restored. Pure."""

from collections.abc import Sequence

from whence.chat.citing import CitationStream, Validated
from whence.chat.fences import restored
from whence.chat.passages import Passage


class ReplyStream:
    """`feed` gives what is final of a text as it comes, `close` the rest; the pieces make up `text`."""

    def __init__(self, passages: Sequence[Passage], *, masked: bool) -> None:
        """`masked` where the writer saw the passages with other brackets than they have (see `fences`)."""
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
        """As the validator left it, and what it found: character for character `text`, but for brackets of the documents."""
        cited, code = tuple(self._citing.cited), tuple(self._citing.code)
        return Validated(text="".join(self._validated), cited=cited, code=code)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def _given(self, validated: str) -> str:
        piece = restored(validated) if self._masked else validated
        self._validated.append(validated)
        self._pieces.append(piece)
        return piece
