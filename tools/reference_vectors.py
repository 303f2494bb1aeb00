"""Writes MiniLM's vectors of the reference texts into the package: `make reference-vectors`. A test fails if they are out of date.

The file has the sha256 of the weights, the sha256 of the texts, then the vectors as little-endian half floats.
"""

import asyncio
from pathlib import Path

from whence.providers.minilm import WEIGHTS_SHA256, MiniLMEmbedder
from whence.search.background import reference_list

FILE = Path(__file__).parent.parent / "src" / "whence" / "search" / "data" / "minilm-references.bin"


def main() -> None:
    texts, digest = reference_list()
    vectors = asyncio.run(MiniLMEmbedder().embed(texts)).vectors
    FILE.write_bytes(bytes.fromhex(WEIGHTS_SHA256) + digest + vectors.astype("<f2").tobytes())


if __name__ == "__main__":
    main()
