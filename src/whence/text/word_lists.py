"""Word lists by language, from `data/<language>.toml`."""

import gzip
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import orjson

FOREIGN = ("german", "french", "spanish", "italian", "dutch", "portuguese")
"""Languages besides English with a list of function words."""


@cache
def word_list(language: str, name: str) -> tuple[str, ...]:
    return tuple(_lists(language)[name].split())


@cache
def _lists(language: str) -> dict[str, str]:
    return tomllib.loads((files(__package__) / "data" / f"{language}.toml").read_text(encoding="utf-8"))


def minilm_tokenizer() -> bytes:
    return gzip.decompress(
        files("whence").joinpath("providers", "data", "minilm-tokenizer.json.gz").read_bytes()
    )


@cache
def english_words() -> Mapping[str, int]:
    """The whole words in the local model's vocabulary, some twenty thousand, each with its rank: frequent words come first."""
    vocabulary = orjson.loads(minilm_tokenizer())["model"]["vocab"]
    return {word: rank for word, rank in vocabulary.items() if word.isalpha()}


SMALL = word_list("english", "cardinals")
TENS = word_list("english", "tens")
NUMBERS = {word: number for number, word in enumerate(SMALL)} | {
    word: 10 * number for number, word in enumerate(TENS, 2)
}
"""Number words below a hundred, and their numbers."""
ZEROS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""The zeros that a number word adds."""
