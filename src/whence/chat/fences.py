"""Excerpts of documents as a model is shown them: fenced, so that none can end its fence, open another or cite. Pure.

Documents are written by anybody. Whatever could be taken for ours is put into a form that cannot: fences and the
control words of models are broken, and what could be taken for a citation gets brackets of its own, which `restored`
turns back in the answer.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count

from whence.chat.citing.markers import BRACKETS, MASKS, UUID

_MASKED = str.maketrans(BRACKETS, MASKS)
_RESTORED = str.maketrans(MASKS, BRACKETS)
_BRACKETED = re.compile(rf"[\[【［]([^{re.escape(BRACKETS)}\n]{{1,400}})[\]】］]")
_ID = re.compile(UUID)

_FORGED = re.compile(
    r"<(?=\s{0,9}/?\s{0,9}passage"  # our fence
    r"|\||/?s>|<\s{0,9}/?sys|/?(?:start|end)_of_turn>|/?(?:bos|eos|pad|unk|think)>)",  # what models end a turn with
    re.IGNORECASE,
)
_HARMLESS = "＜"

_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_NAME_MASKS = str.maketrans({'"': "'", "<": "‹", ">": "›"})
_LONGEST_NAME = 80
_CODE_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """What a model is shown of one source."""

    text: str
    name: str
    """Of the file that it is from."""
    page: int | None = None
    composed: bool = False
    """It was put together from the graph, and stands in no document as it is. What it says is defused, and the numbers behind it cite."""


def fenced(excerpt: Excerpt, *, number: int | None, code: str) -> str:
    """The excerpt between two lines that nothing in it can look like. Without a number it cannot be cited."""
    page = "" if excerpt.page is None else f' page="{excerpt.page}"'
    kind = ' kind="graph"' if excerpt.composed else ""
    cited_by = "" if number is None else f' number="{number}"'
    opening = f'<passage-{code}{cited_by} file="{shown_name(excerpt.name)}"{page}{kind}>'
    text = excerpt.text if excerpt.composed else defused(excerpt.text)
    return f"{opening}\n{text}\n</passage-{code}>"


def fence_code(texts: Iterable[str]) -> str:
    """The same for the same texts, and found in none of them: who writes one of them cannot know it."""
    together = [text.encode("utf-8", "surrogatepass") for text in texts]
    seed = b"".join(b"%d:%s" % (len(text), text) for text in together)
    codes = (_code(seed, attempt) for attempt in count())
    return next(code for code in codes if not any(code.encode() in text for text in together))


def defused(text: str) -> str:
    return _BRACKETED.sub(_masked, _FORGED.sub(_HARMLESS, text))


def restored(text: str) -> str:
    """An answer, or any piece of one, with the brackets that the documents have. Nothing moves by it.

    It comes after the validator of citations, which leaves no id between brackets of either kind but those of sources.
    """
    return text.translate(_RESTORED)


def shown_name(name: str) -> str:
    """On one line, and without whatever could end the attribute or the tag."""
    flat = _UNPRINTABLE.sub(" ", name).strip().translate(_NAME_MASKS).translate(_MASKED)
    return flat if len(flat) <= _LONGEST_NAME else flat[: _LONGEST_NAME - 1] + "…"


def _masked(found: re.Match[str]) -> str:
    inside = found[1]
    if _ID.search(inside):  # in brackets it would be a citation, also in the answer
        return f"({inside})"
    # A number or an id cites; [INST] and the like are words by which models are told who speaks.
    suspicious = any(letter.isdigit() for letter in inside) or inside.strip("/").isupper()
    return found[0].translate(_MASKED) if suspicious else found[0]


def _code(seed: bytes, attempt: int) -> str:
    return sha256(b"%d:%s" % (attempt, seed)).hexdigest()[:_CODE_LENGTH]
