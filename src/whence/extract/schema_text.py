"""Finds duplicate names in the JSON of a schema, which JSON parsers accept."""

import json
from typing import Any

from whence.errors import InvalidSchema
from whence.extract.schema_parts import MAX_NAME


def require_single_names(text: bytes) -> None:
    """Raises InvalidSchema for the first duplicate name. JSON parsers keep the last and silently drop the others.

    `text` must be valid JSON.
    """
    try:
        # Objects become tuples of pairs, to distinguish them from lists.
        _require_single(json.loads(text, object_pairs_hook=tuple), "")
    except RecursionError as exc:
        raise InvalidSchema.at("schema", provided="…", expected="nested less deep") from exc


def _require_single(body: Any, path: str) -> None:
    if isinstance(body, list):
        for at, item in enumerate(body):
            _require_single(item, f"{path}[{at}]")
    elif isinstance(body, tuple):
        seen: set[str] = set()
        for name, inner in body:
            place = ".".join(filter(None, (path, name[:MAX_NAME])))
            if name in seen:
                raise InvalidSchema.at(place, provided=name[:MAX_NAME], expected="there only once")
            seen.add(name)
            _require_single(inner, place)
