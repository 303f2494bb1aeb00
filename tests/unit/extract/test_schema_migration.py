"""Which moves over claims a schema change is made of."""

from typing import Any

from whence.extract.schema_migration import plan_moves
from whence.extract.schema_reading import read_schema
from whence.store.graph.schema_moves import Move, PropertyMove, RelationshipMove, TypeMove


def plan(*bodies: dict[str, Any]) -> list[Move]:
    """From the first version to the second; later ones may bring types back."""
    return plan_moves({number: read_schema(body) for number, body in enumerate(bodies, start=1)}, 1, 2)


def objects(**types: dict[str, Any]) -> dict[str, Any]:
    return {"object_types": {name: {"properties": {}, **body} for name, body in types.items()}}


def ties(**types: dict[str, Any]) -> dict[str, Any]:
    return {**objects(Thing={}), "relationship_types": types}


def test_additions_move_nothing() -> None:
    assert plan(objects(Thing={}), objects(Thing={"properties": {"size": {}}}, Other={})) == []


def test_a_property_of_a_renamed_type_moves_first_and_under_the_older_type() -> None:
    older = objects(Thing={"properties": {"color": {}, "size": {}}})
    newer = objects(Item={"renamed_from": "Thing", "properties": {"colour": {"renamed_from": "color"}}})
    assert plan(older, newer) == [
        PropertyMove(type="Thing", name="color", new_name="colour"),
        PropertyMove(type="Thing", name="size"),
        TypeMove(type="Thing", new_type="Item"),
    ]


def test_a_type_that_a_later_version_has_again() -> None:
    versions = (objects(Thing={}), objects(Item={"renamed_from": "Thing"}), objects(Item={}, Thing={}))
    assert plan(*versions) == [TypeMove(type="Thing", new_type="Item", again=3)]


def test_a_relationship_type_and_its_properties_are_one_move() -> None:
    older = ties(**{"is": {"properties": {"a": {}, "b": {}}}})
    newer = ties(equals={"renamed_from": "is", "properties": {"z": {"renamed_from": "a"}}})
    assert plan(older, newer) == [
        RelationshipMove(type="is", new_type="equals", renamed={"a": "z"}, removed=["b"])
    ]


def test_a_relationship_type_that_keeps_its_name() -> None:
    older, newer = ties(**{"is": {"properties": {"a": {}}}}), ties(**{"is": {"properties": {}}})
    assert plan(older, newer) == [RelationshipMove(type="is", new_type="is", removed=["a"])]


def test_removed_types() -> None:
    older = {**objects(Thing={}, Gone={}), "relationship_types": {"is": {}}}
    assert plan(older, objects(Thing={})) == [TypeMove(type="Gone"), RelationshipMove(type="is")]
