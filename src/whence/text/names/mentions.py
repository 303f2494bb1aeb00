"""Lists the names that a text may mention: every run of a few words, normalised. Pure."""

import re

from whence.text.names.keys import fold, name_key

MAX_WORDS = 8
MAX_CHARACTERS = 12

# Words are separated by white space and punctuation, but "C#", "C++" and ".NET" are words.
_WORD = re.compile(r"(?:(?<!\S)\.)?[^\s!-/:-@\[-^`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+[#+]*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


def names_in(text: str) -> set[str]:
    """Normalised names of up to eight words; in scripts without spaces, up to twelve characters."""
    folded = fold(text)
    words = list(_WORD.finditer(folded))
    found = {
        _name(folded, first, last) for at, first in enumerate(words) for last in words[at : at + MAX_WORDS]
    }
    for run in _UNSPACED.finditer(folded):
        found |= {
            folded[start:end]
            for start in range(run.start(), run.end())
            for end in range(start + 1, min(start + MAX_CHARACTERS, run.end()) + 1)
        }
    return found


def _name(text: str, first: re.Match[str], last: re.Match[str]) -> str:
    name = text[first.start() : last.end()]
    if name.count("(") > name.count(")") and text[last.end() : last.end() + 1] == ")":
        name += ")"
    is_bare = name[0].isalnum() and name[-1].isalnum()
    return name if is_bare else name_key(name)
