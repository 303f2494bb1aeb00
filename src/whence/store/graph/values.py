"""Values as the database can keep them."""

import json
import math
from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """Without what Postgres has no place for: NUL characters, halves of characters, and numbers that are none."""
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
    """A JSON value on its way into an array of them. Python's own writer, because it knows integers of any size."""
    return json.dumps(storable(value), ensure_ascii=False, allow_nan=False)
