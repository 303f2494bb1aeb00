"""What is said of a document, wherever it comes: in JSON, or in a form as JSON text."""

from collections.abc import Mapping
from typing import Any

import orjson

from whence.errors import InvalidParameter
from whence.web.fields import Fields

MAX_BYTES = 16 * 1024
"""As JSON."""
MAX_DEPTH = 8

METADATA_SCHEMA: dict[str, Any] = {
    "type": ["object", "null"],
    "description": "What is to be known of the document, for filters of searches. It is added to what was said before; "
    "null takes a field away.",
    "examples": [{"team": "travel", "year": 2026}],
}
METADATA_FORM_SCHEMA: dict[str, Any] = {
    "type": "string",
    "contentMediaType": "application/json",
    "description": "The metadata as JSON text.",
    "examples": ['{"team": "travel"}'],
}


def metadata_of(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """None where nothing is said."""
    sent = fields.get("metadata")
    if isinstance(sent, str):  # in a form it is JSON as text
        try:
            sent = orjson.loads(sent)
        except orjson.JSONDecodeError as exc:
            raise _wrong(sent, "a JSON object") from exc
    metadata = Fields({"metadata": sent}).mapping("metadata")
    if metadata is not None and not _is_flat_enough(metadata, MAX_DEPTH):
        raise _wrong(metadata, f"objects and lists at most {MAX_DEPTH} deep")
    if metadata is not None and len(orjson.dumps(metadata)) > MAX_BYTES:
        raise _wrong("too long", f"at most {MAX_BYTES} bytes of JSON")
    return metadata


def _is_flat_enough(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat_enough(one, levels - 1) for one in inside)


def _wrong(provided: Any, expected: str) -> InvalidParameter:
    return InvalidParameter.of("metadata", provided=provided, expected=expected)
