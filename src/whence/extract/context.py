"""The context of a chunk, and the part of it that fits into a prompt."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from uuid import UUID

from whence.errors import InvalidParameter
from whence.extract.contracts import ChunkText, KnownObject
from whence.extract.fence import chunk_block, fenced, mark_for, object_line

Part = Literal["previous", "next", "semantic", "object"]
_Item = TypeVar("_Item", ChunkText, KnownObject)

POSITIONAL_COUNTS = range(11)
SEMANTIC_COUNTS = range(21)
OBJECT_COUNTS = range(101)
OPTION_NAMES = {
    "positionalCount": "positional_count",
    "semanticChunkCount": "semantic_chunk_count",
    "relatedObjectCount": "related_object_count",
    "objectSimilarityThreshold": "object_similarity_threshold",
}
"""Maps the names in a project's config to the fields here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    positional_count: int = 1
    """Number of chunks before the primary one, and as many after it."""
    semantic_chunk_count: int = 3
    related_object_count: int = 10
    object_similarity_threshold: float = 0.7
    """Minimum similarity of an object, unless its name occurs in the chunk."""

    def __post_init__(self) -> None:
        _require("positionalCount", self.positional_count, POSITIONAL_COUNTS)
        _require("semanticChunkCount", self.semantic_chunk_count, SEMANTIC_COUNTS)
        _require("relatedObjectCount", self.related_object_count, OBJECT_COUNTS)
        threshold = self.object_similarity_threshold
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise InvalidParameter.of(
                "objectSimilarityThreshold", provided=threshold, expected="a number from 0 to 1"
            )

    @classmethod
    def chosen(cls, config: Mapping[str, Any]) -> "ContextOptions":
        """The options in a project's `config`, with defaults for the rest."""
        given = config.get("context") or {}
        return cls(**{OPTION_NAMES[name]: value for name, value in given.items() if value is not None})

    def told(self) -> dict[str, int | float]:
        """The options by their names in a project's config."""
        return {name: getattr(self, field) for name, field in OPTION_NAMES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """Every part is in order of relevance: the nearest chunk, the most similar chunk, the best object first."""

    primary: ChunkText
    """The only chunk to extract from. The others help to understand it."""
    previous: tuple[ChunkText, ...] = ()
    next: tuple[ChunkText, ...] = ()
    semantic: tuple[ChunkText, ...] = ()
    objects: tuple[KnownObject, ...] = ()

    @property
    def chunks(self) -> tuple[ChunkText, ...]:
        """All chunks but the primary one."""
        return self.previous + self.next + self.semantic


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    part: Part
    id: UUID
    tokens: int
    why: Literal["count", "budget"]
    """`count`: over the number in the options. `budget`: over the token budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    context: ExtractionContext
    mark: str
    """Separates document text from the prompt's own lines."""
    tokens: int
    """Tokens of the whole prompt, never over the budget."""
    left_out: tuple[LeftOut, ...]


def fit(
    context: ExtractionContext,
    *,
    frame: Callable[[str], str],
    budget: int,
    count: Callable[[str], int],
    options: ContextOptions | None = None,
) -> Fit:
    """Selects the context that fits into a prompt of `budget` tokens.

    `frame` returns the prompt without the context: instructions, schema, headings. The primary chunk comes first and is never
    shortened. Its neighbours, objects and similar chunks follow, each in the given order. An item that does not fit is left out as
    a whole; a smaller one after it may still fit. Items are counted one by one, in their final form.
    """
    options = options or ContextOptions()
    mark = mark_for(all_texts(context))
    needed = count(frame(mark)) + count(fenced(context.primary.text, mark))
    if needed > budget:
        raise InvalidParameter.of(
            "WHENCE_LLM_CONTEXT",
            provided=budget,
            expected=f"room for a prompt of {needed} tokens",
            message=f"This chunk and the schema need a prompt of {needed} tokens, and the model's window has room for {budget}: "
            "set WHENCE_LLM_CONTEXT to what the model takes in, or cut smaller chunks",
        )
    room = _Room(budget - needed)

    def of_chunk(chunk: ChunkText) -> int:
        return count(chunk_block("Previous", chunk.text, mark))

    def of_object(known: KnownObject) -> int:
        return count(object_line(known) + "\n")

    neighbours = {context.primary.id, *(chunk.id for chunk in (*context.previous, *context.next))}
    similar = [chunk for chunk in context.semantic if chunk.id not in neighbours]
    fitted = ExtractionContext(
        primary=context.primary,
        previous=room.take("previous", context.previous, of_chunk, most=options.positional_count),
        next=room.take("next", context.next, of_chunk, most=options.positional_count),
        objects=room.take("object", context.objects, of_object, most=options.related_object_count),
        semantic=room.take("semantic", similar, of_chunk, most=options.semantic_chunk_count),
    )
    return Fit(context=fitted, mark=mark, tokens=budget - room.left, left_out=tuple(room.left_out))


class _Room:
    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.left_out: list[LeftOut] = []

    def take(
        self, part: Part, items: Iterable[_Item], cost: Callable[[_Item], int], *, most: int
    ) -> tuple[_Item, ...]:
        taken: list[_Item] = []
        for item in items:
            tokens = cost(item)
            if len(taken) < most and tokens <= self.left:
                taken.append(item)
                self.left -= tokens
            else:
                why: Literal["count", "budget"] = "count" if len(taken) >= most else "budget"
                self.left_out.append(LeftOut(part=part, id=item.id, tokens=tokens, why=why))
        return tuple(taken)


def all_texts(context: ExtractionContext) -> Iterable[str]:
    yield context.primary.text
    yield from (chunk.text for chunk in context.chunks)
    yield from map(object_line, context.objects)


def amended(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A project's config after these changes. Absent keys keep their values, also those of its context."""
    context = changes.get("context")
    kept = {"context": {**(config.get("context") or {}), **context}} if context else {}
    return {**config, **changes, **kept}


def _require(parameter: str, value: int, allowed: range) -> None:
    if type(value) is not int or value not in allowed:
        expected = f"an integer from {allowed.start} to {allowed.stop - 1}"
        raise InvalidParameter.of(parameter, provided=value, expected=expected)
