"""The validated text. Its end can still be cut until it is taken."""

from itertools import chain

REACH = 400
"""Characters of validated text that a decision may look back at."""
_MOST_PARTS = 8
"""Maximum number of parts to read at the end. More are joined, so that looking back stays cheap."""


class OutputBuffer:
    def __init__(self) -> None:
        self.length = 0
        """Characters written so far, including those already taken."""
        self.parts: list[str] = []
        self._fixed: list[str] = []
        """Text that can no longer be cut and is not taken yet."""
        self._unread: list[str] = []
        self._before = ""
        """The end of the text before `parts`."""

    def write(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    def cut(self, size: int) -> None:
        """Removes characters from the end."""
        self.length -= size
        while size > 0:
            last = self.parts.pop()
            if len(last) > size:
                self.parts.append(last[:-size])
            size -= len(last)

    def end(self, size: int = REACH) -> str:
        """The last `size` characters."""
        if self.parts and len(self.parts[-1]) >= size:
            return self.parts[-1][-size:]
        found: list[str] = []
        for part in chain(reversed(self.parts), (self._before,)):
            if size <= 0:
                break
            found.append(part[-size:])
            size -= len(part)
        if len(found) > _MOST_PARTS:
            # The last part found may be cut off; the others are whole.
            self.parts[-(len(found) - 1) :] = ["".join(reversed(found[:-1]))]
        return "".join(reversed(found))

    def take(self, held: int) -> str:
        """Everything not taken yet except the last `held` characters, which can still be cut."""
        self._fix(held)
        taken = "".join(self._fixed)
        self._fixed.clear()
        return taken

    def read(self) -> str:
        """The text since the last call, which can no longer be cut."""
        self._fix(0)
        text = "".join(self._unread)
        self._unread.clear()
        return text

    def _fix(self, held: int) -> None:
        text = "".join(self.parts)
        end = max(0, len(text) - held)
        self.parts = [text[end:]] if held else []
        final = text[:end]
        self._fixed.append(final)
        self._unread.append(final)
        self._before = (self._before + final[-REACH:])[-REACH:]
