"""Arithmetic on vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from whence.providers.base import Vectors


def normalised(vectors: "Vectors") -> "Vectors":
    """Each row divided by its length. A row of zeros has no direction and stays zero."""
    # In float64: the squares of small or large float32 leave its range.
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def averaged(vectors: "Vectors", *, weights: Sequence[float], owners: Sequence[int], count: int) -> "Vectors":
    """The weighted mean direction of the rows of each owner, 0 to `count` - 1; each owns at least one."""
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, np.asarray(owners, dtype=np.intp), vectors * np.asarray(weights)[:, None])
    return normalised(sums.astype(np.float32))
