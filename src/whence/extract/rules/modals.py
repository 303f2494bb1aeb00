"""How much a sentence demands: `must`, `should`, `may`. What may not be is forbidden, which is as much as `must`."""

import re

from whence.extract.rules.cues import FORBIDDEN, FORBIDS, MODAL

_NOBODY = re.compile(
    r"(?:\A|,\s)(?:no|none|neither|nobody)\b(?:\s(?!and\b|but\b)[\w’'/-]{1,40}){0,6}\s?\Z", re.IGNORECASE
)


def modal_of(text: str) -> str | None:
    """`cannot` counts only where nothing else does: it may as well tell what is the matter."""
    found = MODAL.search(text)
    if found is None:
        return "must" if FORBIDDEN.match(text) else None
    return strength(text[: found.start()], found["modal"])


def strength(before: str, modal: str) -> str:
    """Of a modal and what stands before it: `Neither party may …` forbids as well as `may not` does."""
    is_ban = modal.lower() == "may" and _NOBODY.search(before) is not None
    return "must" if is_ban or FORBIDS.fullmatch(modal) else modal.lower()
