"""Converts values to a form that Postgres can store."""

import json
import math
from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """Removes NUL characters, replaces lone surrogates, and turns NaN and infinity into None."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode(errors="replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {storable(str(name)): storable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    return value


def json_text(value: Any) -> str:
    """Encoded by Python's own module, which accepts integers of any size."""
    return json.dumps(storable(value), ensure_ascii=False, allow_nan=False)
