"""The background: which cosines unrelated texts have, in a space and language."""

import asyncio

import numpy as np
import pytest
from numpy.typing import NDArray

from whence.providers.minilm import MiniLMEmbedder
from whence.search.background import (
    KNOWN,
    Language,
    background_of,
    languages_of,
    reference_list,
    shipped_vectors,
)

SPANISH = (
    "La fundación de la ciudad se remonta al siglo doce, cuando se construyó la primera muralla junto al río.",
    "El coste de la calefacción se reparte entre los vecinos según la superficie de cada vivienda.",
)
ENGLISH = (
    "Invoices are paid within thirty days of receipt, less a discount of two percent for early payment.",
    "The heron stands in the shallow water of the pond all morning and waits for frogs.",
)


def unit(*angles: float) -> NDArray[np.float32]:
    return np.array([(np.cos(angle), np.sin(angle)) for angle in angles], np.float32)


def test_the_project_has_the_language_whose_texts_are_clearly_nearer() -> None:
    known, other = Language(unit(0.0, 0.2), 7.0), Language(unit(1.5, 1.6), 1.0)
    for angle, reach in ((0.1, 7.0), (0.8, 7.0), (1.5, 1.0)):
        background = background_of(unit(angle, angle + 0.1), [known, other])
        assert (background.reach, background.best_reach) == (reach, 7.0)


def test_the_package_has_the_local_models_vectors_of_the_reference_texts() -> None:
    texts, digest = reference_list()
    shipped = shipped_vectors(digest)
    assert shipped is not None, "run make reference-vectors"
    # Processors round differently.
    np.testing.assert_allclose(shipped, asyncio.run(_embedded(texts)), atol=0.002)


def test_shipped_vectors_are_not_used_for_other_texts_or_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    _, digest = reference_list()
    assert shipped_vectors(bytes(32)) is None
    monkeypatch.setattr("whence.search.background.WEIGHTS_SHA256", "00" * 32)
    assert shipped_vectors(digest) is None


def test_the_local_model_knows_english_alone() -> None:
    shipped = shipped_vectors(reference_list()[1])
    assert shipped is not None
    languages = languages_of(shipped.astype(np.float32))
    assert languages[0].reach > 2 * KNOWN
    assert all(language.reach < KNOWN for language in languages[1:])
    english, spanish = (
        background_of(asyncio.run(_embedded(texts)), languages) for texts in (ENGLISH, SPANISH)
    )
    assert english.reach == languages[0].reach
    assert english.mean == pytest.approx(0.03, abs=0.06)
    assert spanish.reach < KNOWN
    assert spanish.mean > english.mean + 0.15


async def _embedded(texts: list[str] | tuple[str, ...]) -> NDArray[np.float32]:
    return (await MiniLMEmbedder().embed(texts)).vectors
