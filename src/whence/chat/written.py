"""An answer as far as it is written, while it is validated."""

from itertools import chain

from whence.chat.lookalikes import REACH


class Written:
    def __init__(self) -> None:
        self.length = 0
        """Of all that was given."""
        self.parts: list[str] = []
        """What was given in this step."""
        self.held = ""
        """What was kept of the lead of a marker, and may go with the next one."""
        self._earlier = ""

    def give(self, text: str) -> None:
        if text:
            self.give_held()
            self.parts.append(text)
            self.length += len(text)

    def give_held(self) -> None:
        if self.held:
            held, self.held = self.held, ""
            self.give(held)

    def hold_last(self, size: int) -> None:
        """Gives what is held but for so many characters at its end."""
        held = self.held
        self.held = held[: len(held) - size]
        self.give_held()
        self.held = held[len(held) - size :]

    def before(self, following: str) -> str:
        """The end of it with what follows: `REACH` characters, or all there are."""
        found = [following[-REACH:]]
        missing = REACH - len(found[0])
        for part in chain((self.held,), reversed(self.parts), (self._earlier,)):
            if missing <= 0:
                break
            found.append(part[-missing:])
            missing -= len(part)
        return "".join(reversed(found))

    @property
    def last(self) -> str:
        """Its last character."""
        return (self.held or (self.parts[-1] if self.parts else self._earlier))[-1:]

    def step(self) -> str:
        """What was given since the last step."""
        text = "".join(self.parts)
        self.parts.clear()
        self._earlier = (self._earlier + text)[-REACH:]
        return text
