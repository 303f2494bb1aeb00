"""Writes the generated modules of clients/python: `make client`. A test fails if they are out of date.

`types.py` has a TypedDict for each shape of the OpenAPI document. The synchronous modules are the asynchronous ones without
`async` and `await`.
"""

import re
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from typing import Any

from whence.settings import Settings
from whence.web.server import create_app

PACKAGE = Path(__file__).parent.parent / "clients" / "python" / "src" / "whence_client"
TYPES = PACKAGE / "types.py"
TWINS = {"aio.py": "client.py", "aio_requests.py": "requests.py"}
"""Asynchronous modules, and the synchronous ones that are made from them."""

_HEAD = '''"""The shapes of requests and answers. Generated from the OpenAPI document by `make client`; do not edit."""

from __future__ import annotations

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")


class Listing(TypedDict, Generic[T]):
    items: list[T]
    pagination: Pagination
'''
_SYNC_HEAD = '"""Generated from `{}` by `make client`; do not edit."""\n'
_API = "/api/v1"
_WRAPPERS = ("Success_", "Listing_")
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_SYNC = {
    "async def": "def",
    "async with": "with",
    "await ": "",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "AsyncRequests": "Requests",
    "aio_requests": "requests",
    "asynccontextmanager": "contextmanager",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aread": "read",
    "aiter_bytes": "iter_bytes",
    "asyncio": "time",
    "async for ": "for ",
}


def render_types() -> str:
    document = create_app(Settings()).openapi()
    shapes = document["components"]["schemas"]
    own = {name: shape for name, shape in sorted(shapes.items()) if not name.startswith(_WRAPPERS)}
    texts = [_HEAD, *("\n".join(_shape(name, shape)) + "\n" for name, shape in own.items())]
    return "\n\n".join([*texts, "\n".join(_cursors(document["paths"])) + "\n"])


def render_twin(asynchronous: str) -> str:
    text = (PACKAGE / asynchronous).read_text(encoding="utf-8")
    pattern = re.compile("|".join(map(re.escape, _SYNC)))
    body = pattern.sub(lambda found: _SYNC[found[0]], text.partition('"""\n')[2])
    return _SYNC_HEAD.format(asynchronous) + body


def rendered() -> dict[Path, str]:
    """All generated modules."""
    twins = {PACKAGE / made: render_twin(source) for source, made in TWINS.items()}
    return {TYPES: render_types(), **twins}


def _cursors(paths: dict[str, Any]) -> Iterator[str]:
    yield "CURSORS = frozenset(\n    ("
    for path, operations in sorted(paths.items()):
        names = [one["name"] for one in operations.get("get", {}).get("parameters", ())]
        if "after" in names and path.startswith(_API):
            yield f'        "{re.sub(r"{[^}]*}", "{}", path.removeprefix(_API))}",'
    yield '    )\n)\n"""Lists that take `after`."""'


def _shape(name: str, shape: dict[str, Any]) -> Iterator[str]:
    required = shape.get("required", ())
    members = {
        key: _type(one) if key in required else f"NotRequired[{_type(one)}]"
        for key, one in shape.get("properties", {}).items()
    }
    if any(map(iskeyword, members)):
        yield f'{name} = TypedDict(\n    "{name}",\n    {{'
        yield from (f'        "{key}": "{annotation}",' for key, annotation in members.items())
        yield "    },\n)"
        return
    yield f"class {name}(TypedDict):"
    yield from (f"    {key}: {annotation}" for key, annotation in members.items())
    if not members:
        yield "    pass"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return re.sub(r"^Listing_(\w+)_$", r"Listing[\1]", name)
    if values := schema.get("enum", [schema["const"]] if "const" in schema else None):
        return f"Literal[{', '.join(map(repr, values))}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        of = schema.get("additionalProperties")
        return f"dict[str, {_type(of) if isinstance(of, dict) else 'Any'}]"
    return _PLAIN.get(str(kind), "Any")


if __name__ == "__main__":
    for file, text in rendered().items():
        file.write_text(text, encoding="utf-8")
