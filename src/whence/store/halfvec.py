"""Encodes vectors in the binary form of pgvector's halfvec, which Postgres need not parse.

The form is the number of dimensions, two zero bytes, and two bytes per dimension, big-endian.
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


class HalfVector(bytes):
    __slots__ = ()


def halfvec(values: Sequence[float]) -> HalfVector:
    return HalfVector(struct.pack(f">HH{len(values)}e", len(values), 0, *values))


def halfvecs(vectors: "NDArray[np.float32]") -> Iterator[HalfVector]:
    head = struct.pack(">HH", vectors.shape[1], 0)
    halves = vectors.astype(">f2")
    return (HalfVector(head + row.tobytes()) for row in halves)


class HalfVectorDumper(Dumper):
    """Dumps without a type OID, which differs between databases; the statement casts the value."""

    format = Format.BINARY

    def dump(self, obj: HalfVector) -> HalfVector:
        return obj
