"""A property is a JSON Schema: what is accepted, what is refused, and which values it lets pass."""

import contextlib
import json
import time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import InvalidSchema
from whence.extract.context import ChunkText, ExtractionContext
from whence.extract.json_schema import mismatch
from whence.extract.prompt import described, reply_schema
from whence.extract.schema import Property, Schema
from whence.extract.schema_diff import diff, needs_model
from whence.extract.schema_reading import read_schema
from whence.extract.values import WrongValue, fitted
from whence.offline.rules import propose

PLACE = "object_types.Thing.properties.a"


def schema_of(definition: Any) -> Schema:
    return read_schema({"object_types": {"Thing": {"properties": {"a": definition}}}})


def read(definition: Any) -> Property:
    return schema_of(definition).object_types["Thing"].properties["a"]


OPTIONAL_DAY = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
    "default": None,
    "title": "A",
}
ADDRESS = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 2}, "zip": {"type": ["string", "integer"]}},
    "required": ["city"],
    "additionalProperties": False,
}
SCORES = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "uniqueItems": True}

ACCEPTED: list[dict[str, Any]] = [
    {"type": "string", "minLength": 1, "maxLength": 20, "default": "x", "title": "A", "examples": ["x"]},
    {"type": "number", "minimum": 0, "maximum": 10.5, "multipleOf": 0.5},
    {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "format": "int32"},
    {"type": "string", "pattern": "^REQ-\\d+$"},
    {"type": "string", "pattern": "^(?=.*x)\\w+$"},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "colour", "x-colour": {"$ref": "data, not a reference"}},
    {"type": ["string", "number", "null"]},
    {"anyOf": [{"type": "string"}, {"type": "number"}]},
    {"type": "object", "anyOf": [{"required": ["b"]}, {"required": ["c"]}]},
    {"oneOf": [{"const": "x"}, {"type": "integer", "minimum": 3}]},
    {"allOf": [{"type": "string"}, {"minLength": 3}]},
    {"not": {"const": "x"}},
    {"const": 5},
    {"const": {"$ref": "data"}},
    {"enum": ["x", 1, True, None]},
    {"enum": [["x"], ["y"]]},
    {"type": ["string", "null"], "enum": ["low", "high", None]},
    {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
    {"type": "array", "contains": {"const": "x"}, "minContains": 1},
    {"type": "object", "additionalProperties": {"type": "number"}, "propertyNames": {"pattern": "^[a-z]+$"}},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}}, "minProperties": 1},
    {"if": {"type": "string"}, "then": {"minLength": 3}},
    {
        "$comment": "x",
        "deprecated": True,
        "readOnly": False,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    },
    {"nullable": True, "example": "x"},
    OPTIONAL_DAY,
    ADDRESS,
    SCORES,
]


@pytest.mark.parametrize("definition", ACCEPTED, ids=json.dumps)
def test_every_ordinary_json_schema_is_accepted_and_kept(definition: dict[str, Any]) -> None:
    schema = schema_of(definition)
    stored = schema.body["object_types"]["Thing"]["properties"]["a"]
    for keyword in definition.keys() - {"type", "enum", "properties", "items"}:
        assert stored[keyword] == definition[keyword]
    assert read_schema(json.loads(json.dumps(schema.body))) == schema
    json.dumps(reply_schema(schema, ()))
    assert described(schema)


@pytest.mark.parametrize(
    ("definition", "place"),
    [
        (True, ""),
        ("string", ""),
        ({"$ref": "#/$defs/x"}, ".$ref"),
        ({"$dynamicRef": "https://example.org/schema"}, ".$dynamicRef"),
        ({"anyOf": [{"type": "string"}, {"$ref": "other.json"}]}, ".anyOf[1].$ref"),
        (
            {"type": "object", "additionalProperties": {"items": {"$ref": "#"}}},
            ".additionalProperties.items.$ref",
        ),
        ({"$schema": "https://example.org/mine"}, ".$schema"),
        ({"type": "null"}, ".type"),
        ({"type": []}, ".type"),
        ({"type": ["string", "strng"]}, ".type"),
        ({"const": None}, ".const"),
        ({"pattern": "("}, ".pattern"),
        ({"pattern": "((a{1,1000}){1,1000}){1,1000}"}, ".pattern"),
        ({"type": "object", "patternProperties": {"(": {}}}, ".patternProperties.("),
        ({"type": "object", "patternProperties": True}, ".patternProperties"),
        ({"minLength": "1"}, ".minLength"),
        ({"minLength": -1}, ".minLength"),
        ({"minimum": "0"}, ".minimum"),
        ({"type": "number", "exclusiveMinimum": True}, ".exclusiveMinimum"),
        ({"type": "number", "multipleOf": 0}, ".multipleOf"),
        ({"anyOf": []}, ".anyOf"),
        ({"anyOf": {"type": "string"}}, ".anyOf"),
        ({"not": "string"}, ".not"),
        ({"minLenght": 1}, ".minLenght"),
        ({"oneOf": [{"minLenght": 1}]}, ".oneOf[0].minLenght"),
        ({"type": "array", "items": [{"type": "string"}]}, ".items"),
        ({"type": "array", "items": {"pattern": "["}}, ".items.pattern"),
        ({"type": "object", "properties": {"b": {"minimum": "x"}}}, ".properties.b.minimum"),
        ({"$id": "not a uri"}, ".$id"),
        ({"default": "\x00"}, ".default"),
        ({"examples": [float("nan")]}, ".examples[0]"),
        ({"maximum": 10**30}, ".maximum"),
        ({"uniqueItems": "yes"}, ".uniqueItems"),
        ({"type": "integer", "format": "date-time"}, ".format"),
    ],
)
def test_what_is_none_is_refused_with_its_place(definition: Any, place: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        schema_of(definition)
    assert caught.value.details["path"] == PLACE + place
    assert caught.value.details["expected"]
    assert "provided" in caught.value.details
    json.dumps(caught.value.details, allow_nan=False)


def test_a_valid_schema_that_no_value_fits_is_accepted() -> None:
    """Every value is then rejected for its bounds, as `mismatch` tells."""
    definition = {"type": "string", "minLength": 5, "maxLength": 3}
    schema_of(definition)
    assert mismatch("four", definition) == "a text of at least 5 characters"
    assert mismatch("fifth", definition) == "a text of at most 3 characters"


def test_a_renamed_property_may_be_inside_another_but_not_in_an_alternative() -> None:
    schema_of({"type": "object", "properties": {"b": {"renamed_from": "c"}}})
    with pytest.raises(InvalidSchema, match="renamed_from"):
        schema_of({"anyOf": [{"type": "string", "renamed_from": "c"}]})


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "not", "additionalProperties", "items", "default"])
def test_nothing_is_nested_without_end(keyword: str) -> None:
    deep: Any = {"type": "string"}
    for _ in range(5_000):
        deep = {keyword: [deep] if keyword.endswith("Of") else deep}
    with pytest.raises(InvalidSchema, match="nested at most 3 deep"):
        schema_of(deep)


def test_a_schema_has_a_hundred_patterns_at_most() -> None:
    properties = {f"p{at}": {"anyOf": [{"pattern": "a"}, {"pattern": "b"}]} for at in range(60)}
    with pytest.raises(InvalidSchema, match="at most 100 patterns"):
        read_schema({"object_types": {"Thing": {"properties": properties}}})


@pytest.mark.parametrize(
    ("definition", "value", "result"),
    [
        ({"type": "integer", "minimum": 1}, "5", 5),
        ({"minimum": 1}, "2.5", 2.5),
        ({"const": 5}, "5", 5),
        ({"const": "Very High"}, "very-high", "Very High"),
        ({"type": ["string", "number"]}, 5, 5),
        ({"type": ["integer", "boolean"]}, "5", 5),
        ({"type": ["integer", "boolean"]}, "yes", True),
        ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}, ["5", 6], [5, 6]),
        (OPTIONAL_DAY, "15 January 2024", "2024-01-15"),
        (
            {"anyOf": [{"format": "date-time", "type": "string"}]},
            "2024-01-15T10:00:00",
            "2024-01-15T10:00:00",
        ),
        ({"enum": ["x", 1]}, "X", "x"),
        ({"enum": ["x", 1]}, "1", 1),
        ({"enum": [["x"], ["y"]]}, ["y"], ["y"]),
        ({"enum": ["low", None]}, "LOW", "low"),
        ({"type": "string", "format": "email"}, "a@example.org", "a@example.org"),
        ({"type": "string", "format": "colour"}, "anything", "anything"),
        ({"type": "string", "pattern": "^REQ-\\d+$"}, " REQ-7 ", "REQ-7"),
        (ADDRESS, {"City": "Ulm", "zip": 89073}, {"city": "Ulm", "zip": 89073}),
        (SCORES, ["3", 0, None], [3, 0]),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"x": 1}, {"x": 1}),
        ({"type": "array", "items": True}, [1, "x"], [1, "x"]),
        ({"default": "x"}, "y", "y"),
    ],
)
def test_values_are_read_as_before_and_then_checked(definition: Any, value: Any, result: Any) -> None:
    found = fitted(value, read(definition))
    assert found == result
    assert type(found) is type(result)
    assert fitted(found, read(definition)) == found


@pytest.mark.parametrize(
    ("definition", "value", "words"),
    [
        ({"minLength": 3}, "ab", "a text of at least 3 characters"),
        ({"maxLength": 3}, "abcd", "a text of at most 3 characters"),
        ({"type": "integer", "minimum": 1}, 0, "at least 1"),
        ({"type": "integer", "maximum": 5}, "6", "at most 5"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "more than 0"),
        ({"type": "number", "exclusiveMaximum": 1}, 1, "less than 1"),
        ({"type": "number", "multipleOf": 0.5}, 0.7, "a multiple of 0.5"),
        ({"pattern": "^REQ"}, "X", r"a text that matches \^REQ"),
        ({"format": "email"}, "nobody", "a valid email"),
        ({"format": "uri"}, "not a uri", "a valid uri"),
        ({"const": "x"}, "y", "one of x"),
        ({"type": ["integer", "boolean"]}, "soon", "a boolean or an integer"),
        (
            {"anyOf": [{"type": "integer"}, {"minLength": 3}]},
            "x",
            "an integer or a text of at least 3 characters",
        ),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, "what exactly one of oneOf allows"),
        ({"not": {"const": "x"}}, "x", "other than"),
        ({"enum": [["x"]]}, ["y"], r'one of \["x"\]'),
        (OPTIONAL_DAY, "soon", "a valid date"),
        (ADDRESS, {"city": "U"}, "a text of at least 2 characters at city"),
        (ADDRESS, {"city": "Ulm", "street": "x"}, "an object without street"),
        (ADDRESS, {"zip": 5}, "an object with city"),
        (SCORES, [3], "a list of at least 2 items"),
        (SCORES, [3, 3], "a list without duplicates"),
        (SCORES, [3, -1], r"at least 0 at \[1\]"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, {"x": "y"}, "a number at x"),
        ({"type": "array", "items": False}, [1], "left out"),
        ({"anyOf": [{"type": "string"}]}, "x" * 20_000, "at most 10000 characters"),
    ],
)
def test_a_value_beyond_it_is_refused_with_what_was_expected(definition: Any, value: Any, words: str) -> None:
    with pytest.raises(WrongValue, match=words):
        fitted(value, read(definition))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^(a+)+$", "matches"),
        ("^(a|aa)+$", "matches"),
        ("^(a+)+(?!b)$", "within 1000 steps"),
        (r"^(\w+\s?)*(?=x)\1$", "within 1000 steps"),
        (r"(?=(\w+))\1:", "within 1000 steps"),
    ],
)
def test_no_pattern_stops_the_server(pattern: str, words: str) -> None:
    wanted = read({"anyOf": [{"type": "string", "pattern": pattern}]})
    began = time.thread_time()
    with pytest.raises(WrongValue, match=words):
        fitted("a" * 9_000 + "!", wanted)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"minLength": 1}, {"minLength": 2}),
        ({}, {"pattern": "x"}),
        ({"type": "string"}, {"type": ["string", "number"]}),
        ({"title": "A"}, {"title": "B"}),
        ({"not": {"const": 1}}, {"not": {"const": True}}),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}),
    ],
)
def test_a_keyword_that_changed_is_a_change_that_needs_the_model(old: Any, new: Any) -> None:
    change = diff(schema_of(old), schema_of(new))
    assert [(each.kind, each.name) for each in change.changed] == [("property", "a")]
    assert needs_model(change)


def test_what_the_name_is_may_be_said_in_other_annotations() -> None:
    schema = read_schema(
        {"object_types": {"Thing": {"properties": {"name": {"title": "N", "examples": ["x"]}}}}}
    )
    assert schema.body["object_types"]["Thing"]["properties"]["name"]["title"] == "N"
    assert diff(schema, read_schema({"object_types": {"Thing": {}}})).changed
    with pytest.raises(InvalidSchema, match=r"properties\.name\.pattern must be left out: it is the name"):
        read_schema({"object_types": {"Thing": {"properties": {"name": {"pattern": "x"}}}}})


def keywords_in(form: Any) -> set[str]:
    """All but the names of fields."""
    if isinstance(form, list):
        return {word for each in form for word in keywords_in(each)}
    if not isinstance(form, dict):
        return set()
    inner = [value for key, value in form.items() if key not in {"properties", "enum"}]
    return {*form, *keywords_in(inner), *keywords_in(list(form.get("properties", {}).values()))}


@pytest.mark.parametrize("definition", ACCEPTED, ids=json.dumps)
def test_a_model_is_asked_only_in_what_strict_output_knows(definition: dict[str, Any]) -> None:
    form = reply_schema(schema_of(definition), ())
    known = {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "anyOf",
        "format",
        "description",
    }
    assert keywords_in(form) <= known
    own = form["properties"]["objects"]["items"]["properties"]["a"]
    assert "null" in own.get("type", ()) or {"type": "null"} in own["anyOf"]


def test_a_model_is_told_the_bounds() -> None:
    told = described(schema_of({"type": "integer", "minimum": 1, "maximum": 5, "description": "How well"}))
    assert "a (integer, minimum 1, maximum 5): How well" in told
    assert "a (date): When" in described(schema_of(OPTIONAL_DAY | {"description": "When"}))


@pytest.mark.parametrize("definition", ACCEPTED, ids=json.dumps)
def test_the_rules_propose_what_the_text_says_whatever_a_property_allows(definition: dict[str, Any]) -> None:
    schema = read_schema(
        {
            "object_types": {
                "Requirement": {"properties": {"priority": definition, "description": {"minLength": 1}}}
            }
        }
    )
    primary = ChunkText(id=UUID(int=1), text="REQ-1: The system must support OAuth.\nPriority: 7\n")
    found = propose(schema, ExtractionContext(primary=primary))["objects"]
    assert [each["priority"] for each in found] == ["7"]


KEYWORDS = """type format enum const required minLength maxLength pattern contentEncoding contentMediaType contentSchema
minimum maximum exclusiveMinimum exclusiveMaximum multipleOf items prefixItems contains unevaluatedItems minItems maxItems
uniqueItems minContains maxContains properties patternProperties additionalProperties unevaluatedProperties propertyNames
minProperties maxProperties dependentRequired dependentSchemas anyOf oneOf allOf not if then else title description default
examples example deprecated readOnly writeOnly nullable $comment $schema $id $anchor $defs definitions""".split()

_DEFINITION = st.recursive(
    st.booleans()
    | st.integers(min_value=-1, max_value=5)
    | st.sampled_from(["string", "number", "array", "object", "null", "^a", "(", "date", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYWORDS, "$ref", "x-y"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    _DEFINITION, st.recursive(st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3))
)
def test_any_definition_is_read_or_refused_and_so_is_any_value(definition: Any, value: Any) -> None:
    with contextlib.suppress(InvalidSchema, WrongValue):
        wanted = read(definition)
        schema = schema_of(definition)
        assert read_schema(schema.body).sha256 == schema.sha256
        json.dumps(reply_schema(schema, ()))
        assert described(schema)
        fitted(value, wanted)
