"""How many tokens a text has, about. Every model counts differently, and few tell before they are asked.

A guess that is too low overflows the model's window, and some models then drop the beginning without a word; one that
is too high wastes some of the window. So it leans to the high side: small letters and spaces are counted as what models
make of words that they do not know well, and whatever is not a word at its full price.
"""

import math
import string

_LETTERS = (string.ascii_lowercase + " ").encode()
_CAPITALS = string.ascii_uppercase.encode()
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_PER_TOKEN_LETTERS = 3.5
_PER_TOKEN_CAPITALS = 2
_PER_TOKEN_BYTES = 2
"""Beyond ASCII, of UTF-8: a token for each letter of Greek or Cyrillic, one and a half for each of Chinese or Thai."""


def estimate_tokens(text: str) -> int:
    """Whatever is not a letter, a space or beyond ASCII counts as a token each: digits, punctuation, line ends.

    Never more for two texts joined than for both apart.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    total = len(encoded)
    letters = total - len(encoded.translate(None, _LETTERS))
    capitals = total - len(encoded.translate(None, _CAPITALS))
    beyond = 0 if text.isascii() else total - len(encoded.translate(None, _BEYOND_ASCII))
    single = total - letters - capitals - beyond
    words = letters / _PER_TOKEN_LETTERS + capitals / _PER_TOKEN_CAPITALS + beyond / _PER_TOKEN_BYTES
    return single + math.ceil(words)
