"""Fences sources for a prompt, so that no text of a document can end its fence, open another or cite. Pure.

Documents are untrusted. Fences and models' control tokens in them are broken. Brackets that could be citations are replaced
by other brackets, which `restored` turns back in the answer.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from itertools import count

from whence.chat.citing.markers import BRACKETS, MASKS, UUID
from whence.chat.sources import Source

_MASKED = str.maketrans(BRACKETS, MASKS)
_RESTORED = str.maketrans(MASKS, BRACKETS)
_BRACKETED = re.compile(rf"[\[【［]([^{re.escape(BRACKETS)}\n]{{1,400}})[\]】］]")
_ID = re.compile(UUID)

_FORGED = re.compile(
    r"<(?=\s{0,9}/?\s{0,9}passage"  # our fence
    r"|\||/?s>|<\s{0,9}/?sys|/?(?:start|end)_of_turn>|/?(?:bos|eos|pad|unk|think)>)",  # control tokens of models
    re.IGNORECASE,
)
_HARMLESS = "＜"

_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_NAME_MASKS = str.maketrans({'"': "'", "<": "‹", ">": "›"})
_LONGEST_NAME = 80
_CODE_LENGTH = 8


def fenced(source: Source, *, number: int | None, code: str) -> str:
    """The source between two lines that its text cannot imitate. Without a number it cannot be cited.

    The text of the graph's source is already defused, and the numbers behind its facts are citations.
    """
    page = "" if source.page is None else f' page="{source.page}"'
    kind = ' kind="graph"' if source.is_graph else ""
    name = "knowledge graph" if source.is_graph else shown_name(source.name)
    cited_by = "" if number is None else f' number="{number}"'
    text = source.text if source.is_graph else defused(source.text)
    return f'<passage-{code}{cited_by} file="{name}"{page}{kind}>\n{text}\n</passage-{code}>'


def fence_code(texts: Iterable[str]) -> str:
    """A code that is the same for the same texts and occurs in none of them. The author of a text cannot predict it."""
    together = [text.encode("utf-8", "surrogatepass") for text in texts]
    seed = b"".join(b"%d:%s" % (len(text), text) for text in together)
    codes = (_code(seed, attempt) for attempt in count())
    return next(code for code in codes if not any(code.encode() in text for text in together))


def defused(text: str) -> str:
    return _BRACKETED.sub(_masked, _FORGED.sub(_HARMLESS, text))


def restored(text: str) -> str:
    """Restores the documents' brackets in an answer or a piece of one. Offsets do not change.

    Must run after the citation validator, which leaves no id in brackets of either kind except those of sources.
    """
    return text.translate(_RESTORED)


def shown_name(name: str) -> str:
    """The name on one line, shortened, without characters that could end the attribute or the tag."""
    flat = _UNPRINTABLE.sub(" ", name).strip().translate(_NAME_MASKS).translate(_MASKED)
    return flat if len(flat) <= _LONGEST_NAME else flat[: _LONGEST_NAME - 1] + "…"


def _masked(found: re.Match[str]) -> str:
    inside = found[1]
    if _ID.search(inside):  # an id in brackets would be a citation, also in the answer
        return f"({inside})"
    # A number could be a citation; [INST] and the like mark roles for some models.
    suspicious = any(letter.isdigit() for letter in inside) or inside.strip("/").isupper()
    return found[0].translate(_MASKED) if suspicious else found[0]


def _code(seed: bytes, attempt: int) -> str:
    return sha256(b"%d:%s" % (attempt, seed)).hexdigest()[:_CODE_LENGTH]
