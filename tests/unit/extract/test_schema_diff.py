"""What changed between two schemas, and whether a model must read again."""

from typing import Any

from whence.extract.schema_diff import Diff, Element, diff, needs_model
from whence.extract.schema_reading import read_schema


def thing(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"object_types": {"Thing": {"properties": properties, **more}}}


def between(old: dict[str, Any], new: dict[str, Any]) -> Diff:
    return diff(read_schema(old), read_schema(new))


def of_property(name: str, was: str | None = None) -> Element:
    return Element(kind="property", type="Thing", name=name, was=was)


def test_nothing_changed() -> None:
    assert between(thing({"a": {"minLength": 1}}), thing({"a": {"type": "string", "minLength": 1}})) == Diff()
    assert not needs_model(Diff())


def test_new_properties_need_a_model() -> None:
    change = between(thing({"a": {}}), thing({"a": {}, "priority": {}, "owner": {}}))
    assert change == Diff(added=(of_property("owner"), of_property("priority")))
    assert needs_model(change)


def test_what_is_gone_needs_none() -> None:
    change = between(thing({"a": {}, "b": {}}), thing({"a": {}}))
    assert change == Diff(removed=(of_property("b"),))
    assert not needs_model(change)


def test_a_declared_rename_needs_none() -> None:
    change = between(
        thing({"owner": {}, "x": {}}), thing({"responsible": {"renamed_from": "owner"}, "x": {}})
    )
    assert change == Diff(renamed=(of_property("responsible", was="owner"),))
    assert not needs_model(change)
    assert change.body()["renamed"] == [
        {"kind": "property", "type": "Thing", "name": "responsible", "was": "owner"}
    ]


def test_a_rename_that_leaves_no_doubt_need_not_be_declared() -> None:
    definition = {"description": "Who is responsible"}
    change = between(thing({"owner": definition}), thing({"responsible": definition}))
    assert change == Diff(renamed=(of_property("responsible", was="owner"),))


def test_two_plain_strings_are_not_taken_for_a_rename() -> None:
    change = between(thing({"owner": {}}), thing({"colour": {}}))
    assert change == Diff(added=(of_property("colour"),), removed=(of_property("owner"),))


def test_two_properties_that_share_an_enum_are_not_taken_for_a_rename() -> None:
    levels = {"type": "string", "enum": ["low", "medium", "high"]}
    change = between(thing({"priority": levels}), thing({"severity": levels}))
    assert change == Diff(added=(of_property("severity"),), removed=(of_property("priority"),))
    assert needs_model(change)


def test_two_candidates_are_no_rename() -> None:
    definition = {"description": "How much it matters", "enum": ["low", "high"]}
    change = between(thing({"a": definition}), thing({"b": definition, "c": definition}))
    assert change == Diff(added=(of_property("b"), of_property("c")), removed=(of_property("a"),))


def test_a_rename_that_was_declared_in_an_earlier_version_says_nothing_more() -> None:
    body = thing({"b": {"renamed_from": "a"}})
    assert between(body, body) == Diff()


def test_a_rename_can_come_with_a_change() -> None:
    change = between(thing({"a": {}}), thing({"b": {"type": "integer", "renamed_from": "a"}}))
    assert change == Diff(renamed=(of_property("b", was="a"),), changed=(of_property("b"),))
    assert needs_model(change)


def test_changes_of_a_property() -> None:
    old = thing({"a": {}, "b": {}, "c": {}})
    new = thing({"a": {"type": "integer"}, "b": {"description": "New words"}, "c": {"required": True}})
    change = between(old, new)
    assert change == Diff(changed=(of_property("a"), of_property("b"), of_property("c")))
    assert needs_model(change)


def test_types_come_go_and_are_renamed_with_the_ends_that_name_them() -> None:
    old = {
        "object_types": {"Req": {"properties": {"a": {}}}, "Old": {}},
        "relationship_types": {"r": {"from": ["Req"]}, "gone": {}},
    }
    new = {
        "object_types": {"Requirement": {"properties": {"a": {}}, "renamed_from": "Req"}, "New": {}},
        "relationship_types": {"r": {"from": ["Requirement"]}},
    }
    change = between(old, new)
    assert change.added == (Element(kind="object_type", name="New"),)
    assert change.removed == (
        Element(kind="object_type", name="Old"),
        Element(kind="relationship_type", name="gone"),
    )
    assert change.renamed == (Element(kind="object_type", name="Requirement", was="Req"),)
    assert change.changed == ()


def test_other_ends_are_a_change() -> None:
    old = {"object_types": {"A": {}, "B": {}}, "relationship_types": {"r": {"from": ["A"]}}}
    new = {"object_types": {"A": {}, "B": {}}, "relationship_types": {"r": {"from": ["A", "B"]}}}
    assert between(old, new).changed == (Element(kind="relationship_type", name="r"),)


def test_a_closed_type_is_a_change() -> None:
    change = between(thing({"a": {}}), thing({"a": {}}, additional_properties=False))
    assert change.changed == (Element(kind="object_type", name="Thing"),)


def through(*bodies: dict[str, Any]) -> Diff:
    return diff(*map(read_schema, bodies))


def test_what_was_renamed_twice_was_renamed_from_the_first_name_to_the_last() -> None:
    change = through(
        thing({"a": {}}), thing({"b": {"renamed_from": "a"}}), thing({"c": {"renamed_from": "b"}})
    )
    assert change == Diff(renamed=(of_property("c", was="a"),))
    assert not needs_model(change)


def test_a_rename_stands_whatever_later_versions_say_of_it() -> None:
    renamed = thing({"b": {"renamed_from": "a"}})
    assert through(thing({"a": {}}), renamed, thing({"b": {}})) == Diff(renamed=(of_property("b", was="a"),))
    more = through(thing({"a": {}}), renamed, thing({"b": {}, "x": {}}))
    assert more == Diff(added=(of_property("x"),), renamed=(of_property("b", was="a"),))


def test_what_was_renamed_and_then_removed_is_removed() -> None:
    change = through(thing({"a": {}}), thing({"b": {"renamed_from": "a"}}), thing({}))
    assert change == Diff(removed=(of_property("a"),))


def test_what_was_removed_and_came_back_is_removed_and_added() -> None:
    change = through(thing({"a": {}}), thing({}), thing({"a": {}}))
    assert change == Diff(added=(of_property("a"),), removed=(of_property("a"),))
    assert needs_model(change)


def test_what_came_and_went_between_is_nothing() -> None:
    assert through(thing({}), thing({"a": {}}), thing({})) == Diff()


def test_what_was_renamed_and_renamed_back_is_what_it_was() -> None:
    assert (
        through(thing({"a": {}}), thing({"b": {"renamed_from": "a"}}), thing({"a": {"renamed_from": "b"}}))
        == Diff()
    )


def test_a_type_is_followed_through_all_its_names_with_its_properties() -> None:
    def body(name: str, was: str | None, properties: dict[str, Any]) -> dict[str, Any]:
        kind = {"properties": properties, **({"renamed_from": was} if was else {})}
        return {"object_types": {name: kind}, "relationship_types": {"r": {"from": [name]}}}

    change = through(
        body("A", None, {"x": {}}),
        body("B", "A", {"y": {"renamed_from": "x"}}),
        body("C", "B", {"z": {"renamed_from": "y"}}),
    )
    assert change == Diff(
        renamed=(
            Element(kind="object_type", name="C", was="A"),
            Element(kind="property", type="C", name="z", was="x"),
        )
    )


def test_an_end_that_is_gone_is_no_change_of_what_led_to_it() -> None:
    old = {"object_types": {"A": {}, "B": {}}, "relationship_types": {"r": {"from": ["A", "B"]}}}
    new = {"object_types": {"A": {}}, "relationship_types": {"r": {"from": ["A"]}}}
    assert between(old, new) == Diff(removed=(Element(kind="object_type", name="B"),))
    any_end: dict[str, Any] = {"object_types": {"A": {}}, "relationship_types": {"r": {}}}
    assert between(new, any_end).changed == (Element(kind="relationship_type", name="r"),)
