"""A name for what is only said: the sentence itself, and of a long one its beginning and its end."""

from hashlib import sha256

from whence.extract.rules.words import LINKING
from whence.names import name_key

MUST_NOT_END = " ,;:."
LONGEST = 160
"""Characters of a name that is all that was said."""
_HEAD, _TAIL = 90, 50


def shortened(text: str) -> str:
    """The same for the same text, another for another one: a name is what an object is known by.

    What two long texts differ in may stand between the beginning and the end that are kept; hence the mark behind them.
    """
    if len(text) <= LONGEST:
        return text
    words = text.split()
    head, tail = _head(words), _tail(words)
    mark = sha256(name_key(text).encode()).hexdigest()[:4]
    return f"{head} … {tail} [{mark}]"


def _head(words: list[str]) -> str:
    kept: list[str] = []
    for word in words:
        if len(" ".join([*kept, word])) > _HEAD:
            break
        kept.append(word)
    while len(kept) > 1 and (kept[-1].lower() in LINKING or kept[-1].startswith(("(", "“", '"'))):
        kept.pop()
    return (" ".join(kept) or words[0][:_HEAD]).rstrip(MUST_NOT_END)


def _tail(words: list[str]) -> str:
    kept: list[str] = []
    for word in reversed(words):
        if len(" ".join([word, *kept])) > _TAIL:
            break
        kept.insert(0, word)
    begins = next((at for at, word in enumerate(kept) if word.lower() in LINKING), 0)
    return " ".join(kept[begins:]) or words[-1][-_TAIL:]
