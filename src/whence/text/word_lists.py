"""Word lists by language, from `data/<language>.toml`."""

import gzip
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import product

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
HUNDRED = "hundred"
ZEROS = {HUNDRED: 2, "thousand": 3, "million": 6, "millions": 6, "billion": 9, "billions": 9, "trillion": 12}
"""The zeros that an English number word adds."""


def _with_numbers(language: str, name: str) -> dict[str, int]:
    pairs = (pair.partition(":") for pair in word_list(language, name))
    return {word.replace("_", " "): int(number) for word, _, number in pairs}


def _joined_numbers(language: str, one: str, joint: str) -> dict[str, int]:
    """Compounds: "fünfundzwanzig", "vijfentwintig"."""
    numbers = _with_numbers(language, "numbers")
    tens = {word: number for word, number in numbers.items() if number in range(20, 100)}
    ones = {word: number for word, number in numbers.items() if number in range(2, 10)} | {one: 1}
    return {f"{a}{joint}{b}": ones[a] + tens[b] for a, b in product(ones, tens)}


FOREIGN_SCALES = {
    word: zeros for language in FOREIGN for word, zeros in _with_numbers(language, "scales").items()
}
"""The zeros that a number word adds in languages with a decimal comma."""
NUMBERS = {
    **{word: number for language in FOREIGN for word, number in _with_numbers(language, "numbers").items()},
    **_joined_numbers("german", "ein", "und"),
    **_joined_numbers("dutch", "een", "en"),
    **_joined_numbers("dutch", "een", "ën"),
    **{word: number for number, word in enumerate(SMALL)},
    **{word: 10 * number for number, word in enumerate(TENS, 2)},
    "dozen": 12,
}
"""Number words and their numbers."""
