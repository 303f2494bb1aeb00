"""Escapes text of documents for a prompt, so that no document can end its fence, give a model control words, or cite. Pure.

Documents are untrusted. Fences and models' control words in them are broken. Brackets that could be control words or citations
are replaced by others, which `restore_brackets` turns back in the model's answer.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from itertools import count

BRACKETS = "[]【】［］"
MASKS = "⁅⁆⦋⦌⦍⦎"
"""Brackets that replace those of the documents in a prompt."""
UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
LIGHTRAG_ID = r"(?:(?:doc|chunk)-[0-9a-fA-F]{32}(?:-[0-9A-Za-z_-]{1,60})?|[0-9A-Za-z][0-9A-Za-z._-]{0,99}-chunk-[0-9]{3,6})"
"""The id of a chunk in LightRAG: `chunk-<md5>`, `doc-<md5>-chunk-007`; `report-chunk-007` of a document whose id the user chose."""
SOURCE_ID = f"(?:{UUID}|{LIGHTRAG_ID})"
"""The id of a chunk of Whence or LightRAG, which an answer may cite."""

_MASKED = str.maketrans(BRACKETS, MASKS)
_RESTORED = str.maketrans(MASKS, BRACKETS)
_BRACKETED = re.compile(rf"[\[【［]([^{re.escape(BRACKETS)}\n]{{1,400}})[\]】］]")
_ID = re.compile(SOURCE_ID)
_FORGED = re.compile(
    r"<(?=\s{0,9}/?\s{0,9}passage"  # the fence of a chat prompt
    r"|\||/?s>|<\s{0,9}/?sys|/?(?:start|end)_of_turn>|/?(?:bos|eos|pad|unk|think)>)",  # control words of models
    re.IGNORECASE,
)
_HARMLESS = "＜"
_CODE_LENGTH = 8


def fence_code(texts: Iterable[str]) -> str:
    """A code that is the same for the same texts and occurs in none of them. The author of a text cannot predict it."""
    together = [text.encode("utf-8", "surrogatepass") for text in texts]
    seed = b"".join(b"%d:%s" % (len(text), text) for text in together)
    codes = (sha256(b"%d:%s" % (attempt, seed)).hexdigest()[:_CODE_LENGTH] for attempt in count())
    return next(code for code in codes if not any(code.encode() in text for text in together))


def defuse_control_words(text: str) -> str:
    """Breaks fences, and words that mark roles or turns for some models: `<|im_start|>`, `</s>`, `[INST]`."""
    return _BRACKETED.sub(_mask_role, _FORGED.sub(_HARMLESS, text))


def defuse_citations(text: str) -> str:
    """Also masks numbers and ids in brackets, which could be citations."""
    return _BRACKETED.sub(_mask_citation, defuse_control_words(text))


def mask_brackets(text: str) -> str:
    return text.translate(_MASKED)


def restore_brackets(text: str) -> str:
    """Restores the documents' brackets in an answer or a piece of one. Offsets do not change.

    In chat it must run after the citation validator, which leaves no id in brackets of either kind except those of sources.
    """
    return text.translate(_RESTORED)


def _mask_role(found: re.Match[str]) -> str:
    return mask_brackets(found[0]) if found[1].strip("/").isupper() else found[0]


def _mask_citation(found: re.Match[str]) -> str:
    if _ID.search(found[1]):  # an id in brackets would be a citation, also in the answer
        return f"({found[1]})"
    return mask_brackets(found[0]) if any(letter.isdigit() for letter in found[1]) else found[0]
