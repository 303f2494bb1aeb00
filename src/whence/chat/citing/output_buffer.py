"""The validated text. Its end can still be cut."""

REACH = 400
"""Characters of validated text that a decision may look back at."""
_MOST = 10 * REACH
"""Maximum length of the end that can be cut, so that writing stays cheap."""


class OutputBuffer:
    def __init__(self) -> None:
        self.length = 0
        self._done: list[str] = []
        self._tail = ""
        """The last characters, at least `REACH` of them if there are as many."""

    def write(self, text: str) -> None:
        self.length += len(text)
        self._tail += text
        if len(self._tail) > _MOST:
            self._done.append(self._tail[:-REACH])
            self._tail = self._tail[-REACH:]

    def cut(self, size: int) -> None:
        """Removes up to `REACH` characters from the end."""
        self._tail = self._tail[: len(self._tail) - size]
        self.length -= size

    def end(self, size: int = REACH) -> str:
        """The last `size` characters, up to `REACH`."""
        return self._tail[-size:]

    def since(self, start: int) -> str:
        """The text from an offset on."""
        found, at = [self._tail], self.length - len(self._tail)
        for part in reversed(self._done):
            if at <= start:
                break
            found.append(part)
            at -= len(part)
        return "".join(reversed(found))[start - at :]
