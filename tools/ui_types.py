"""Writes clients/typescript/openapi.json, from which the types of the TypeScript client and of the pages are made: `make ui`. A test fails if it is out of date.

It is the OpenAPI document without its words, so that a better description changes nothing here.
"""

import json
from pathlib import Path
from typing import Any

from whence.settings import Settings
from whence.web.server import create_app

FILE = Path(__file__).parent.parent / "clients" / "typescript" / "openapi.json"
_WORDS = frozenset(("description", "summary", "title", "example", "examples", "tags"))
_FIRST_ERROR = "400"


def render() -> str:
    """The file's text: one line for each path and each shape."""
    document = create_app(Settings()).openapi()
    paths = {path: _slim(operations) for path, operations in sorted(document["paths"].items())}
    for operation in (one for operations in paths.values() for one in operations.values()):
        responses = operation["responses"]
        operation["responses"] = {code: responses[code] for code in responses if code < _FIRST_ERROR}
    shapes = {name: _slim(shape) for name, shape in sorted(document["components"]["schemas"].items())}
    head = f'"openapi":"{document["openapi"]}","info":{{"title":"Whence","version":"1"}}'
    return f'{{{head},\n"paths":{_lines(paths)},\n"components":{{"schemas":{_lines(shapes)}}}}}\n'


def _lines(entries: dict[str, Any]) -> str:
    lines = (
        f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}" for name, entry in entries.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}"


def _slim(node: Any, *, names: bool = False) -> Any:
    """Without words. `names`: the keys are names of properties, which may be such words themselves."""
    if isinstance(node, list):
        return [_slim(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _slim(value, names=key == "properties" and not names)
        for key, value in node.items()
        if names or key not in _WORDS
    }


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
