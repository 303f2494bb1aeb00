"""Vectors as the database is given them: in pgvector's binary form of a halfvec, which it need not parse.

That is the number of dimensions, nothing, and a number of two bytes for each, big-endian.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


HEAD = 4
"""Bytes before the numbers."""


class HalfVector(bytes):
    __slots__ = ()


def halfvec(values: Sequence[float]) -> HalfVector:
    return HalfVector(struct.pack(f">HH{len(values)}e", len(values), 0, *values))


def halfvecs(vectors: "NDArray[np.float32]") -> Iterator[HalfVector]:
    """Of each row."""
    head = struct.pack(">HH", vectors.shape[1], 0)
    halves = vectors.astype(">f2")
    return (HalfVector(head + row.tobytes()) for row in halves)


class HalfVectorDumper(Dumper):
    """Without a type of its own, which is another in each database: the statement says what it is."""

    format = Format.BINARY

    def dump(self, obj: HalfVector) -> HalfVector:
        return obj
