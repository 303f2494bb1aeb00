"""The fields that say how to chunk, wherever they come: JSON or a form, camelCase or snake_case."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from whence.chunk import DEFAULT_STRATEGY, ChunkingOptions, strategy
from whence.errors import InvalidParameter
from whence.ingest import Chunking
from whence.web.inputs import given

_FIELDS = ("chunkingStrategy", "chunking_strategy", "chunkingOptions", "chunking_options")
_SIZES = {
    "maxChunkSize": "max_chunk_size",
    "max_chunk_size": "max_chunk_size",
    "minChunkSize": "min_chunk_size",
    "min_chunk_size": "min_chunk_size",
}

_ALWAYS = Chunking()
"""`character`, 1200: as it has always been."""

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


def chunking_of(fields: Mapping[str, Any], *, unnamed: Chunking = _ALWAYS) -> Chunking:
    """What `fields` ask for; what they do not name is as `unnamed` has it."""
    name = given(fields, "chunkingStrategy", "chunking_strategy")
    options = given(fields, "chunkingOptions", "chunking_options")
    chosen = strategy(unnamed.strategy if name is None else name)
    return Chunking(strategy=chosen.name, options=_options(options, unnamed.options))


def names_chunking(fields: Mapping[str, Any]) -> bool:
    """Whether they say anything about it."""
    return any(name in fields for name in _FIELDS)


def _options(sent: Any, unnamed: ChunkingOptions) -> ChunkingOptions:
    if sent is None:
        return unnamed
    if isinstance(sent, str):  # in a form it is JSON as text
        try:
            sent = orjson.loads(sent)
        except orjson.JSONDecodeError as exc:
            raise _not_an_object(sent) from exc
    if not isinstance(sent, Mapping):
        raise _not_an_object(sent)
    sizes: dict[str, Any] = {}
    for name, value in sent.items():
        if name not in _SIZES:
            raise InvalidParameter.unknown(
                f"chunkingOptions.{name}", provided=value, known=("maxChunkSize", "minChunkSize")
            )
        sizes[_SIZES[name]] = int(value) if isinstance(value, float) and value.is_integer() else value
    if "min_chunk_size" not in sizes and not _fits(unnamed, sizes):
        return ChunkingOptions(**sizes)
    return replace(unnamed, **sizes)


def _fits(unnamed: ChunkingOptions, sizes: Mapping[str, Any]) -> bool:
    """A minimum that nobody asked for must not refuse the maximum that somebody did."""
    wanted = sizes.get("max_chunk_size")
    return not isinstance(wanted, int) or unnamed.min_chunk_size < wanted


def _not_an_object(given: Any) -> InvalidParameter:
    return InvalidParameter.of("chunkingOptions", provided=given, expected="a JSON object")
