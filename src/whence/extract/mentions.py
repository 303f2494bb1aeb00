"""Which names a text may speak of: every run of a few words, as a name is normalised. Pure."""

import re

from whence.extract.names import fold, name_key

MAX_WORDS = 8
MAX_CHARACTERS = 12

# What is between words: white space and punctuation, but "C#", "C++" and ".NET" are words.
_WORD = re.compile(r"(?:(?<!\S)\.)?[^\s!-/:-@\[-^`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+[#+]*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


def names_in(text: str) -> set[str]:
    """The normalised names of up to eight words; in scripts without spaces, of up to twelve characters."""
    folded = fold(text)
    words = list(_WORD.finditer(folded))
    found = {
        name_key(folded[first.start() : last.end()])
        if _is_odd(first[0], last[0])
        else folded[first.start() : last.end()]
        for at, first in enumerate(words)
        for last in words[at : at + MAX_WORDS]
    }
    for run in _UNSPACED.finditer(folded):
        found |= {
            folded[start:end]
            for start in range(run.start(), run.end())
            for end in range(start + 1, min(start + MAX_CHARACTERS, run.end()) + 1)
        }
    return found


def _is_odd(first: str, last: str) -> bool:
    """Whether something stands around the words that a name does not keep."""
    return not (first[0].isalnum() and last[-1].isalnum())
