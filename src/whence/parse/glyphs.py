"""Decides which characters of a PDF have a glyph. Separate from `shown`, because numpy takes memory that readers of other formats
need.
"""

import re

import numpy as np
from numpy.typing import NDArray

from whence.parse.shown import UNWANTED

# Joiners, marks of direction, soft hyphens, variants: pdfium's text of a page has some of them, that of its parts others.
NOT_SHOWN = re.compile(
    rf"\s|{UNWANTED.pattern}|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
"""Characters without a glyph."""
_IS_SHOWN = np.ones(0x10000, np.bool_)
_IS_SHOWN[[found.start() for found in NOT_SHOWN.finditer("".join(map(chr, range(0x10000))))]] = False


def shown_among(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each of these characters has a glyph."""
    is_shown: NDArray[np.bool_] = _IS_SHOWN[np.where(codes < len(_IS_SHOWN), codes, ord("x"))]
    return is_shown
