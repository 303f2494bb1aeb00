"""The fields that say how to chunk, wherever they come: JSON or a form, camelCase or snake_case."""

from collections.abc import Mapping
from typing import Any

import orjson

from whence.chunk import DEFAULT_STRATEGY, ChunkingOptions, ChunkingStrategy, strategy
from whence.errors import InvalidParameter

_SIZES = {
    "maxChunkSize": "max_chunk_size",
    "max_chunk_size": "max_chunk_size",
    "minChunkSize": "min_chunk_size",
    "min_chunk_size": "min_chunk_size",
}

SCHEMA: dict[str, Any] = {
    "chunkingStrategy": {
        "type": ["string", "null"],
        "enum": ["character", "sentence", "paragraph", None],
        "default": DEFAULT_STRATEGY,
        "description": "How to cut. Strategies of other distributions are taken as well.",
    },
    "chunkingOptions": {
        "type": ["object", "null"],
        "properties": {
            "maxChunkSize": {"type": "integer", "minimum": 100, "maximum": 10_000, "default": 1200},
            "minChunkSize": {"type": "integer", "minimum": 10, "maximum": 1000, "default": 100},
        },
        "additionalProperties": False,
        "description": "minChunkSize must be less than maxChunkSize. With a maxChunkSize of 100 and no "
        "minChunkSize, it is 50.",
    },
}


def chunking_of(fields: Mapping[str, Any]) -> tuple[ChunkingStrategy, ChunkingOptions]:
    """What `fields` ask for; what they do not name is as it has always been: `character`, 1200."""
    name = _given(fields, "chunkingStrategy", "chunking_strategy")
    options = _given(fields, "chunkingOptions", "chunking_options")
    return strategy(DEFAULT_STRATEGY if name is None else name), _options(options)


def _given(fields: Mapping[str, Any], *names: str) -> Any:
    return next((fields[name] for name in names if name in fields), None)


def _options(given: Any) -> ChunkingOptions:
    if given is None:
        return ChunkingOptions()
    if isinstance(given, str):  # in a form it is JSON as text
        try:
            given = orjson.loads(given)
        except orjson.JSONDecodeError as exc:
            raise _not_an_object(given) from exc
    if not isinstance(given, Mapping):
        raise _not_an_object(given)
    sizes: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _SIZES:
            raise InvalidParameter.of(
                f"chunkingOptions.{name}", provided=value, expected="one of maxChunkSize, minChunkSize"
            )
        sizes[_SIZES[name]] = int(value) if isinstance(value, float) and value.is_integer() else value
    return ChunkingOptions(**sizes)


def _not_an_object(given: Any) -> InvalidParameter:
    return InvalidParameter.of("chunkingOptions", provided=given, expected="a JSON object")
