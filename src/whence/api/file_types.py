"""Types of files as filters name them."""

from collections.abc import Sequence

from whence.parse import type_of_ending

FILE_TYPE = (
    "A media type (`application/pdf`), its beginning (`text/`), or an ending of file names (`pdf`, `.md`)."
)


def wanted_types(given: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Splits the filters into media types (or their prefixes) and name endings. A document must match one of them.

    `pdf` matches every name that ends so and every PDF under any name; `text` also matches `text/plain`.
    """
    names = [name.strip().lower().removesuffix("*") for name in given]
    words = [name.removeprefix(".") for name in names if "/" not in name]
    extensions = tuple(f".{word}" for word in words)
    mimes = [name for name in names if "/" in name]
    mimes += [f"{word}/" for word in words]
    mimes += [mime for mime in map(type_of_ending, extensions) if mime is not None]
    return tuple(mimes), extensions
