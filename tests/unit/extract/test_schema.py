"""Schemas: what is accepted, what is refused and with which words, hashes and versions."""

import contextlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import InvalidParameter, InvalidSchema
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.schema import Schema, version_number
from whence.extract.schema_reading import read_schema
from whence.extract.values import fitted

REQUIREMENT: dict[str, Any] = {
    "object_types": {
        "Requirement": {
            "description": "Something that must hold",
            "properties": {
                "description": {"type": "string"},
                "priority": {"type": "string", "enum": ["low", "high"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "effort": {
                    "type": "object",
                    "properties": {"days": {"type": "integer"}},
                    "required": ["days"],
                },
                "due": {"type": "string", "format": "date"},
            },
            "required": ["description"],
            "additional_properties": False,
        },
        "Component": {},
    },
    "relationship_types": {"depends_on": {"from": ["Requirement"], "to": ["Component"]}, "about": {}},
}


def one_type(**properties: Any) -> dict[str, Any]:
    return {"object_types": {"Thing": {"properties": properties}}}


def test_a_schema_is_read() -> None:
    schema = read_schema(REQUIREMENT)
    kind = schema.object_types["Requirement"]
    assert kind.required == ("description",)
    assert not kind.additional_properties
    assert kind.properties["priority"].enum == ("low", "high")
    assert schema.object_types["Component"].additional_properties
    assert schema.relationship_types["depends_on"].sources == ("Requirement",)
    assert schema.relationship_types["depends_on"].targets == ("Component",)
    assert schema.relationship_types["about"].targets == ()


def test_a_property_may_say_itself_that_it_is_required() -> None:
    short = one_type(owner={"type": "string", "required": True}, note={"type": "string", "required": False})
    long = one_type(owner={"type": "string"}, note={"type": "string"})
    long["object_types"]["Thing"]["required"] = ["owner"]
    assert read_schema(short) == read_schema(long)
    assert read_schema(short).sha256 == read_schema(long).sha256


def test_a_star_is_any_end() -> None:
    ends: list[Any] = [None, "*", ["*"], ["Thing", "*"]]
    hashes = {
        read_schema(
            {"object_types": {"Thing": {}}, "relationship_types": {"r": {"from": end, "to": end}}}
        ).sha256
        for end in ends
    }
    assert len(hashes) == 1


def test_the_name_is_always_there_and_may_be_described() -> None:
    schema = read_schema(one_type(name={"type": "string", "description": "Its number"}))
    assert schema.object_types["Thing"].name.description == "Its number"
    assert not schema.object_types["Thing"].properties
    assert read_schema(schema.body) == schema


def test_a_type_may_also_allow_null_as_every_property_may_be_missing() -> None:
    assert read_schema(one_type(a={"type": ["string", "null"]})) == read_schema(
        one_type(a={"type": "string"})
    )


@pytest.mark.parametrize(
    "body", [{}, {"description": "Anything"}, {"required": True}, {"title": "A", "x-b": 1, "default": 5}]
)
def test_a_definition_that_says_nothing_of_values_allows_all(body: dict[str, Any]) -> None:
    schema = read_schema(one_type(a=body))
    thing = schema.object_types["Thing"].properties["a"]
    assert thing.type is None
    assert read_schema(schema.body) == schema
    for value in ("7", 7, 7.5, True, ["a", 1], {"b": {"c": [1]}}):
        found = fitted(value, thing)
        assert (found, type(found)) == (value, type(value))
    items = read_schema(one_type(a={"type": "array", "items": body})).object_types["Thing"].properties["a"]
    assert fitted([1, "b", [True]], items) == [1, "b", [True]]


def test_a_name_is_a_text_also_where_its_definition_does_not_say_so() -> None:
    assert read_schema(one_type(name={})) == read_schema(one_type(name={"type": "string"}))


def test_the_type_of_choices_need_not_be_said() -> None:
    schema = read_schema(
        one_type(a={"enum": [1, 2]}, b={"enum": [1, 2.5]}, c={"enum": [True]}, d={"enum": ["x"]})
    )
    kinds = {name: each.type for name, each in schema.object_types["Thing"].properties.items()}
    assert kinds == {"a": "integer", "b": "number", "c": "boolean", "d": "string"}


WRONG: list[tuple[Any, str]] = [
    (None, "schema"),
    ([], "schema"),
    ({}, "object_types"),
    ({"object_types": {}}, "object_types"),
    ({"object_types": {"Thing": {}}, "types": {}}, "schema.types"),
    ({"object_types": {"": {}}}, "object_types"),
    ({"object_types": {"1st": {}}}, "object_types"),
    ({"object_types": {"x" * 101: {}}}, "object_types"),
    ({"object_types": {f"T{n}": {} for n in range(101)}}, "object_types"),
    ({"object_types": {"Thing": {}, "thing": {}}}, "object_types.thing"),
    ({"object_types": {"Thing": []}}, "object_types.Thing"),
    ({"object_types": {"Thing": {"extends": "Other"}}}, "object_types.Thing.extends"),
    ({"object_types": {"Thing": {"required": ["nothing"]}}}, "object_types.Thing.required"),
    ({"object_types": {"Thing": {"required": "all"}}}, "object_types.Thing.required"),
    (
        {"object_types": {"Thing": {"additional_properties": "no"}}},
        "object_types.Thing.additional_properties",
    ),
    ({"object_types": {"Thing": {"description": 5}}}, "object_types.Thing.description"),
    ({"object_types": {"Thing": {"description": "\x00"}}}, "object_types.Thing.description"),
    (one_type(id={}), "object_types.Thing.properties.id"),
    (one_type(type={}), "object_types.Thing.properties.type"),
    (one_type(extra={}), "object_types.Thing.properties.extra"),
    (one_type(name={"type": "integer"}), "object_types.Thing.properties.name"),
    (one_type(due_date={}, dueDate={}), "object_types.Thing.properties.dueDate"),
    (one_type(a={"type": "text"}), "object_types.Thing.properties.a.type"),
    (one_type(a={"type": None}), "object_types.Thing.properties.a.type"),
    (one_type(a={"$ref": "#/object_types/Thing"}), "object_types.Thing.properties.a.$ref"),
    (one_type(a={"type": "integer", "format": "date"}), "object_types.Thing.properties.a.format"),
    (one_type(a={"enum": []}), "object_types.Thing.properties.a.enum"),
    (one_type(a={"enum": ["x", "X"]}), "object_types.Thing.properties.a.enum"),
    (one_type(a={"type": "integer", "enum": [1, "2"]}), "object_types.Thing.properties.a.enum[1]"),
    (one_type(a={"type": "number", "enum": [float("nan")]}), "object_types.Thing.properties.a.enum[0]"),
    (one_type(a={"type": "array", "enum": ["x"]}), "object_types.Thing.properties.a.enum[0]"),
    (one_type(a={"type": "string", "items": {}}), "object_types.Thing.properties.a.items"),
    (one_type(a={"type": "array", "properties": {}}), "object_types.Thing.properties.a.properties"),
    (one_type(a={"required": ["b"]}), "object_types.Thing.properties.a.required"),
    (one_type(a={"renamed_from": "b"}, b={}), "object_types.Thing.properties.a.renamed_from"),
    (
        one_type(a={"renamed_from": "c"}, b={"renamed_from": "c"}),
        "object_types.Thing.properties.b.renamed_from",
    ),
    (one_type(**{f"p{n}": {} for n in range(101)}), "object_types.Thing.properties"),
    (
        {"object_types": {"Thing": {}}, "relationship_types": {"r": {"from": ["Nobody"]}}},
        "relationship_types.r.from",
    ),
    ({"object_types": {"Thing": {}}, "relationship_types": {"r": {"to": []}}}, "relationship_types.r.to"),
    (
        {"object_types": {"Thing": {}}, "relationship_types": {"r": {"properties": {"source": {}}}}},
        "relationship_types.r.properties.source",
    ),
    (
        {
            "object_types": {
                f"T{n}": one_type(**{f"p{m}": {} for m in range(99)})["object_types"]["Thing"]
                for n in range(11)
            }
        },
        "schema",
    ),
    ({"object_types": {f"T{n}": {"description": "x" * 2000} for n in range(40)}}, "schema"),
]


@pytest.mark.parametrize(("body", "path"), WRONG, ids=[path for _, path in WRONG])
def test_what_is_wrong_is_named(body: Any, path: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        read_schema(body)
    assert caught.value.details["path"] == path
    assert caught.value.details["expected"]
    assert caught.value.message == f"{path} must be {caught.value.details['expected']}"
    json.dumps(caught.value.details)


def test_nesting_has_an_end() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(50):
        deep = {"type": "array", "items": deep}
    with pytest.raises(InvalidSchema, match="nested at most 3 deep"):
        read_schema(one_type(a=deep))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "object_types",
                    "relationship_types",
                    "properties",
                    "type",
                    "enum",
                    "required",
                    "items",
                    "from",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_JSON)
def test_any_json_is_a_schema_or_is_refused(body: Any) -> None:
    with contextlib.suppress(InvalidSchema):
        assert isinstance(read_schema(body), Schema)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(each, chance)) for key, each in value.items()]
        chance.shuffle(items)
        return dict(items)
    return value


@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_change_the_hash(chance: random.Random) -> None:
    assert read_schema(shuffled(REQUIREMENT, chance)).sha256 == read_schema(REQUIREMENT).sha256
    assert read_schema(shuffled(DEFAULT_SCHEMA.body, chance)).sha256 == DEFAULT_SCHEMA.sha256


def test_another_schema_has_another_hash() -> None:
    assert read_schema(one_type(a={})).sha256 != read_schema(one_type(b={})).sha256


def test_the_stored_body_is_read_as_the_same_schema() -> None:
    for schema in (DEFAULT_SCHEMA, read_schema(REQUIREMENT)):
        assert read_schema(json.loads(json.dumps(schema.body))).sha256 == schema.sha256


def test_versions_are_numbers() -> None:
    assert sorted(["v10", "v2", "v1"], key=version_number) == ["v1", "v2", "v10"]


@pytest.mark.parametrize("version", ["", "v", "v0", "-1", "v1.0", "latest", "v٣", "v" + "9" * 20])
def test_what_is_no_version(version: str) -> None:
    with pytest.raises(InvalidParameter):
        version_number(version)
