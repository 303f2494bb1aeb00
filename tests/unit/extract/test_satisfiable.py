"""Definitions that no value fits are refused; those that some value fits are not."""

from typing import Any

import pytest

from whence.errors import InvalidSchema
from whence.extract import read_schema
from whence.extract.schema_reading import stored_schema

HERE = "object_types.Thing.properties.a"


def one(a: Any) -> dict[str, Any]:
    return {"object_types": {"Thing": {"properties": {"a": a}}}}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength"),
    ({"minItems": 5, "maxItems": 3}, "minItems"),
    ({"type": "object", "minProperties": 2, "maxProperties": 1}, "minProperties"),
    ({"type": "array", "contains": {}, "minContains": 2, "maxContains": 1}, "minContains"),
    ({"type": "integer", "minimum": 10, "maximum": 1}, "minimum"),
    ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "minimum"),
    ({"type": "number", "exclusiveMinimum": 1, "maximum": 1}, "exclusiveMinimum"),
    ({"type": "number", "exclusiveMinimum": 1.5, "exclusiveMaximum": 1.5}, "exclusiveMinimum"),
    ({"enum": []}, "enum"),
    ({"enum": [None]}, "enum"),
    ({"type": "integer", "enum": ["a", "b"]}, "enum[0]"),
    ({"type": ["integer", "boolean"], "enum": ["a"]}, "enum"),
    ({"enum": ["a", "b"], "const": "c"}, "const"),
    ({"type": "integer", "const": "c"}, "const"),
    ({"enum": ["abc", "def"], "maxLength": 2}, "enum"),
    ({"enum": [1, 2], "minimum": 3}, "enum"),
    ({"enum": ["a"], "not": {"const": "a"}}, "enum"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, ""),
    ({"type": "string", "allOf": [{"type": ["integer", "null"]}]}, ""),
    ({"type": "boolean", "anyOf": [{"type": "string"}, {"type": "integer"}]}, ""),
    ({"not": {}}, ""),
    ({"anyOf": [False]}, ""),
    ({"type": "array", "items": {"type": "string", "minLength": 2, "maxLength": 1}}, "items.minLength"),
    ({"type": "object", "properties": {"b": {"minimum": 2, "maximum": 1}}}, "properties.b.minimum"),
    ({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 2, "maximum": 1}]}, "anyOf[1].minimum"),
    ({"anyOf": [{"type": "string"}, {"enum": []}]}, "anyOf[1].enum"),
    (
        {"type": "object", "properties": {"b": {}}, "required": ["c"], "additionalProperties": False},
        "required",
    ),
    ({"type": "object", "required": ["b", "c"], "maxProperties": 1}, "required"),
]


@pytest.mark.parametrize(("definition", "place"), WRONG, ids=[str(each) for each, _ in WRONG])
def test_what_nothing_fits_is_refused(definition: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        read_schema(one(definition))
    assert caught.value.details["path"] == (f"{HERE}.{place}" if place else HERE)
    between = {"relationship_types": {"r": {"properties": {"a": definition}}}, "object_types": {"T": {}}}
    with pytest.raises(InvalidSchema) as caught:
        read_schema(between)
    assert caught.value.details["path"].startswith("relationship_types.r.properties.a")


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "string", "minLength": 3, "maxLength": 3},
        {"type": "number", "minimum": 1, "maximum": 1},
        {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"enum": ["abc", "de"], "maxLength": 2},
        {"enum": ["a", None], "type": ["string", "null"]},
        {"enum": ["a", "b"], "const": "b"},
        {"type": "number", "allOf": [{"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "string"}, {"enum": [None]}]},
        {"anyOf": [{"type": "string"}, {"const": None}]},
        {"type": "array", "items": False},
        {"type": "object", "required": ["b"], "additionalProperties": False, "properties": {"b": {}}},
        {"type": "object", "required": ["b"], "additionalProperties": False, "patternProperties": {"b": {}}},
        {"type": "string", "not": {"minLength": 5, "maxLength": 3}},
        {"type": "string", "if": {"enum": []}, "then": {"maxLength": 3}},
    ],
    ids=str,
)
def test_what_something_fits_is_not(definition: dict[str, Any]) -> None:
    assert set(read_schema(one(definition)).object_types["Thing"].properties) == {"a"}


def test_a_version_that_is_stored_already_is_read_all_the_same() -> None:
    """It was accepted once, and jobs and differences go by it."""
    body = one({"type": "string", "minLength": 5, "maxLength": 3})
    assert stored_schema(body).object_types["Thing"].properties["a"].keywords["minLength"] == 5
