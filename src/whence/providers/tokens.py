"""An estimate of the number of tokens of a text. Every model counts differently, and few count without a request.

A low estimate overflows the model's window, and some models then drop the beginning silently; a high one wastes some
of the window. So the estimate is on the high side: lower-case letters and spaces count as in rare words, and every
other ASCII character as a token.
"""

import math
import string

_LETTERS = (string.ascii_lowercase + " ").encode()
_CAPITALS = string.ascii_uppercase.encode()
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_PER_TOKEN_LETTERS = 3.5
_PER_TOKEN_CAPITALS = 2
_PER_TOKEN_BYTES = 2
"""Bytes of UTF-8 beyond ASCII: one token for a Greek or Cyrillic letter, one and a half for a Chinese or Thai one."""


def estimate_tokens(text: str) -> int:
    """Digits, punctuation and line ends count as one token each.

    The estimate for two texts joined is at most the sum of both.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    total = len(encoded)
    letters = total - len(encoded.translate(None, _LETTERS))
    capitals = total - len(encoded.translate(None, _CAPITALS))
    beyond = 0 if text.isascii() else total - len(encoded.translate(None, _BEYOND_ASCII))
    single = total - letters - capitals - beyond
    words = letters / _PER_TOKEN_LETTERS + capitals / _PER_TOKEN_CAPITALS + beyond / _PER_TOKEN_BYTES
    return single + math.ceil(words)
