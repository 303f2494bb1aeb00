"""How much a sentence demands: `must`, `should`, `may`. What may not be is forbidden, which is as much as `must`."""

import re

from whence.extract.rules.cues import FORBIDDEN, FORBIDS, MODAL

_NOBODY = re.compile(
    r"(?:\A|,\s)(?:no|none|neither|nobody)\b(?:\s(?!and\b|but\b)[\w’'/-]{1,40}){0,6}\s?\Z", re.IGNORECASE
)


# In German, Dutch, French, Spanish, Portuguese, Italian and Scandinavian languages: where an identifier says what they speak of.
_FOREIGN = {
    "must": re.compile(
        r"\b(?:muss|müssen|darf nicht|dürfen nicht|darf kein\w*|dürfen kein\w*|moet(?:en)?|doit|doivent|devra|devront|debe|deben|deberá|deberán|deve|devem|devono|skal|måste)\b",
        re.IGNORECASE,
    ),
    "should": re.compile(
        r"\b(?:soll|sollen|sollte|sollten|devrait|devraient|debería|deberían|dovrebbe|bör|bør)\b",
        re.IGNORECASE,
    ),
    "may": re.compile(
        r"\b(?:kann|können|darf|dürfen|peut|peuvent|puede|pueden|pode|podem|può|possono)\b", re.IGNORECASE
    ),
}


def modal_of_any(text: str) -> str | None:
    """In whatever language."""
    return modal_of(text) or next((modal for modal, words in _FOREIGN.items() if words.search(text)), None)


def demands(text: str) -> bool:
    """More than to say what can be: that is said of bugs, too."""
    strong = (words for modal, words in _FOREIGN.items() if modal != "may")
    return MODAL.search(text) is not None or any(words.search(text) for words in strong)


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
