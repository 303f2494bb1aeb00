"""Marks document text in a prompt as data. No text can imitate the mark, because it occurs in none of them."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from whence.extract.contracts import KnownObject

_LENGTH = 12
_JSON = json.JSONEncoder(ensure_ascii=False)


def mark_for(texts: Iterable[str]) -> str:
    """A word that occurs in none of the texts. The same texts give the same mark."""
    everything = "\n".join(texts).lower()
    mark = everything
    while mark in everything:
        mark = hashlib.sha256(mark.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
    return mark


def fenced(text: str, mark: str) -> str:
    """The text between two lines with the mark."""
    return f"<<<{mark}\n{text}\n{mark}>>>"


def chunk_block(label: str, text: str, mark: str) -> str:
    return f"[{label}]\n{fenced(text, mark)}\n"


def object_line(known: KnownObject) -> str:
    """An object with all its data, as one line of JSON."""
    body: dict[str, Any] = {"id": str(known.id), "type": known.type, "name": known.name}
    return _JSON.encode(body | {key: known.properties[key] for key in sorted(known.properties)})
