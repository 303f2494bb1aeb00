"""Readers for all parts of a schema: objects, texts and names. They raise InvalidSchema with the path of an error."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from whence.errors import InvalidSchema
from whence.extract.schema import ObjectType, Property, RelationshipType
from whence.text.names import identifier_key

MAX_NAME = 100
MAX_DESCRIPTION = 2_000

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NAME = re.compile(r"[^\W\d](?:[\w .\-]*[\w.\-])?")


def wrong(path: str, provided: Any, expected: str) -> InvalidSchema:
    return InvalidSchema.at(path, provided=provided, expected=expected)


def shown(name: Any) -> str:
    """A name made short and encodable for an error message."""
    return str(name).encode("utf-8", "replace").decode()[:MAX_NAME]


def read_fields(body: Any, path: str, *, allowed: Collection[str]) -> Mapping[str, Any]:
    given = read_object(body, path)
    for key in given:
        if key not in allowed:
            raise wrong(f"{path}.{shown(key)}", key, f"left out; {path} may have {', '.join(allowed)}")
    return given


def read_object(body: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise wrong(path, body, "an object")
    return body


def read_strings(body: Any, path: str) -> list[str]:
    if not isinstance(body, list) or not all(isinstance(each, str) for each in body):
        raise wrong(path, body, "a list of names")
    return body


def read_flag(said: Any, path: str) -> bool:
    if not isinstance(said, bool):
        raise wrong(path, said, "true or false")
    return said


def read_description(given: Mapping[str, Any], path: str) -> str:
    said = given.get("description")
    return "" if said is None else read_text(said, f"{path}.description", longest=MAX_DESCRIPTION)


def read_renamed_from(given: Mapping[str, Any], path: str) -> str | None:
    said = given.get("renamed_from")
    return None if said is None else read_text(said, f"{path}.renamed_from", longest=MAX_NAME)


def read_text(said: Any, path: str, *, longest: int) -> str:
    if not isinstance(said, str) or len(said) > longest or UNSTORABLE.search(said):
        raise wrong(path, said, f"a text of at most {longest} characters")
    return said.strip()


def require_names(given: Mapping[str, Any], path: str) -> None:
    seen: dict[str, str] = {}
    for name in given:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            expected = f"a name of at most {MAX_NAME} letters, digits, _, -, dots and spaces that begins with a letter or _"
            raise wrong(path, name, expected)
        other = seen.setdefault(identifier_key(name), name)
        if other != name:
            raise wrong(f"{path}.{name}", name, f"another name: {other!r} is there already")


def require_sources_of_names(
    named: Mapping[str, Property | ObjectType | RelationshipType], path: str
) -> None:
    """Refuses a `renamed_from` whose name is still in use, or which two elements share."""
    taken: set[str] = set()
    for name, thing in named.items():
        old = thing.renamed_from
        if old is not None and (old in named or old in taken):
            raise wrong(
                f"{path}.{name}.renamed_from", old, "a name that nothing has any more, and each only once"
            )
        taken |= {old} if old else set()
