"""Calibrates an embedding space for a project: measures the cosines of unrelated texts, and whether those of related texts are
higher.

Cosines differ between embedders, and with one embedder between languages: to an English model all Spanish texts look alike.
So a project's chunks are compared with reference texts, everyday sentences in many languages. Those in the language of the chunks
are what unrelated texts look like to the embedder; a question and the text that answers it show how far it can tell them apart.
"""

import logging
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from whence.errors import EmbeddingError
from whence.models import EmbeddingSpace
from whence.providers import Embedders
from whence.providers.minilm import WEIGHTS_SHA256, MiniLMEmbedder
from whence.store import Store
from whence.store.backgrounds import Background

CALIBRATE = "whence:calibrate"
"""The task that calibrates a project whose chunks were stored without."""

KNOWN = 3.0
"""Reach from which the embedder knows a language. An English model reaches 7 in English and at most 2 in others."""

_SAMPLED = 128
_APART = 1.5
"""Standard deviations by which texts of a language must be nearer than those of the best known language, to count as the
project's language.
"""
_LEAST_DEVIATION = 0.001

log = logging.getLogger("whence.search")

_Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Language:
    texts: _Vectors
    reach: float


References = Sequence[Language]
"""The vectors of the reference texts in a space, the language that the embedder knows best first."""


class Calibrator:
    """Keeps the vectors of the reference texts in each space. They are embedded once; the package has those of MiniLM."""

    def __init__(self, store: Store, embedders: Embedders) -> None:
        self._store = store
        self._embedders = embedders
        self._known: dict[UUID, References] = {}

    async def references(self, space: EmbeddingSpace) -> References:
        """Empty if the embedder fails. Then the next ingest tries again."""
        if space.id not in self._known:
            try:
                self._known[space.id] = languages_of(await self._vectors(space))
            except EmbeddingError as exc:
                log.warning("Embedded no reference texts: %s", exc.message)
                return ()
        return self._known[space.id]

    async def _vectors(self, space: EmbeddingSpace) -> _Vectors:
        texts, digest = reference_list()
        if (space.provider, space.model) == (MiniLMEmbedder.provider, MiniLMEmbedder.model):
            shipped = shipped_vectors(digest)
            if shipped is not None:
                return _normalised(shipped)
        stored = await self._store.backgrounds.references(space.id, digest=digest)
        if stored is None:
            vectors = (await self._embedders.of(space).embed(texts)).vectors
            stored = vectors.astype("<f2").tobytes()
            await self._store.backgrounds.put_references(space.id, digest=digest, vectors=stored)
        return _normalised(np.frombuffer(stored, "<f2").reshape(len(texts), space.dimensions))

    async def calibrate(self, project_id: UUID) -> None:
        space, _ = await self._store.vectors.spaces(project_id)
        if space is not None:
            await update_background(self._store, project_id, space, await self.references(space))


async def update_background(
    tx: Store, project_id: UUID, space: EmbeddingSpace, references: References
) -> None:
    """Samples the project's chunks and stores its background, if it is due."""
    if not references:
        return
    chunks, sample = await tx.backgrounds.sample(project_id, space.id, count=_SAMPLED)
    if sample:
        vectors = _normalised(np.frombuffer(b"".join(sample), ">f2").reshape(len(sample), space.dimensions))
        await tx.backgrounds.put(project_id, space.id, background_of(vectors, references), chunks=chunks)


def background_of(vectors: _Vectors, references: References) -> Background:
    """The background of chunks with these vectors, each of length 1."""
    best = references[0].reach
    found = []
    for language in references:
        cosines = vectors @ language.texts.T
        deviation = max(float(cosines.std()), _LEAST_DEVIATION)
        found.append(Background(float(cosines.mean()), deviation, language.reach, best))
    nearest = max(found, key=lambda one: one.mean)
    return nearest if nearest.mean > found[0].mean + _APART * found[0].deviation else found[0]


def languages_of(vectors: _Vectors) -> References:
    """The languages of the reference texts, given the vectors of each text and its question in turn."""
    found = []
    start = 0
    for pairs in reference_texts():
        own = vectors[start : start + 2 * len(pairs)]
        texts, questions = own[::2], own[1::2]
        cosines = questions @ texts.T
        is_pair = np.eye(len(pairs), dtype=bool)
        unrelated = cosines[~is_pair]
        deviation = max(float(unrelated.std()), _LEAST_DEVIATION)
        found.append(Language(texts, (float(cosines[is_pair].mean()) - float(unrelated.mean())) / deviation))
        start += len(own)
    return sorted(found, key=lambda language: -language.reach)


def _normalised(vectors: NDArray[np.floating]) -> _Vectors:
    numbers = vectors.astype(np.float32)
    return np.asarray(numbers / np.maximum(np.linalg.norm(numbers, axis=1, keepdims=True), 1e-6), np.float32)


@cache
def reference_texts() -> list[list[tuple[str, str]]]:
    """For each language, texts with a question about each."""
    data = (files(__package__) / "data" / "references.toml").read_text(encoding="utf-8")
    return [list(zip(one["texts"], one["questions"], strict=True)) for one in tomllib.loads(data).values()]


def reference_list() -> tuple[list[str], bytes]:
    """Each text and its question in turn, and their digest."""
    texts = [text for pairs in reference_texts() for pair in pairs for text in pair]
    return texts, sha256("\n".join(texts).encode()).digest()


def shipped_vectors(digest: bytes) -> NDArray[np.float16] | None:
    """MiniLM's vectors from the package (`make reference-vectors`); None if made for other texts or other weights."""
    content = (files(__package__) / "data" / "minilm-references.bin").read_bytes()
    head = bytes.fromhex(WEIGHTS_SHA256) + digest
    if not content.startswith(head):
        return None
    return np.frombuffer(content, "<f2", offset=len(head)).reshape(-1, MiniLMEmbedder.dimensions)
