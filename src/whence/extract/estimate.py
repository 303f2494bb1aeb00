"""Estimates the cost of re-extraction before it runs."""

from dataclasses import dataclass
from uuid import UUID

from whence.extract.context import ContextOptions
from whence.extract.costs import Prices
from whence.extract.extractors import Extractor
from whence.extract.scheduling import Scope
from whence.extract.schema import Schema
from whence.extract.schema_diff import needs_model
from whence.extract.schema_history import changes_between
from whence.store import Store

_CHARACTERS = 3.5
"""Characters per token, roughly."""
_OBJECT = 60
"""Tokens of an object in a prompt or a reply, for ordinary documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    documents: int
    chunks: int
    """Chunks that must be read again."""
    carried_over: int
    """Chunks whose claims only need to be renamed or removed."""
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


async def estimate(
    store: Store,
    extractor: Extractor,
    prices: Prices,
    *,
    project_id: UUID,
    document_id: UUID | None,
    schema: Schema,
    number: int,
    scope: Scope,
    options: ContextOptions,
) -> Estimate:
    ledger, every = store.graph.ledger, scope == "all"
    by_version = await ledger.by_version(project_id, number, document_id=document_id, every=every)
    carried = 0
    if not every:
        for older in [version for version in by_version if version is not None]:
            if not needs_model(await changes_between(store, project_id, older, number)):
                carried += by_version.pop(older)[0]
    _, documents = await ledger.to_read(project_id, number, document_id=document_id, every=every)
    chunks = sum(count for count, _ in by_version.values())
    characters = sum(size for _, size in by_version.values())
    prompt, completion = _tokens(extractor, schema, options, chunks, characters)
    return Estimate(
        documents=documents,
        chunks=chunks,
        carried_over=carried,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=prices.cost(prompt, completion),
    )


def _tokens(
    extractor: Extractor, schema: Schema, options: ContextOptions, chunks: int, characters: int
) -> tuple[int, int]:
    """Prompt and completion tokens. Each prompt has the primary chunk and as many context chunks as the options allow."""
    frame, most = extractor.prompt_tokens(schema)
    if not most or not chunks:
        return 0, 0
    shown = 1 + 2 * options.positional_count + options.semantic_chunk_count
    one = frame + shown * characters / chunks / _CHARACTERS + options.related_object_count * _OBJECT
    return round(chunks * min(one, most)), chunks * _OBJECT
