"""Replies of models, good and bad: proposals or UnreadableReply, and nothing else."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import CutOffReply, UnreadableReply
from whence.extract.extractors import split_in_two
from whence.extract.reply import (
    MAX_OBJECTS,
    MAX_PROPERTIES,
    MAX_RELATIONSHIPS,
    MAX_REPLY,
    ExtractionReply,
    joined,
    proposals,
    read_reply,
)

NEW = {"type": "Requirement", "name": "OAuth 2.0", "description": "Must support OAuth"}
UPDATE = {"id": "0190e1d0-0000-7000-8000-000000000001", "expiration": "1 hour"}
LINK = {"type": "depends_on", "source": "OAuth 2.0", "target": "Zitadel"}
BOTH = {"objects": [NEW, UPDATE], "relationships": [LINK]}


def names(reply: ExtractionReply) -> list[str | None]:
    return [each.name or each.id for each in reply.objects]


WHOLE = [
    json.dumps(BOTH),
    json.dumps(BOTH, indent=2),
    f"Here you are:\n```json\n{json.dumps(BOTH)}\n```\nAnything else?",
    f"```\n{json.dumps(BOTH)}",
    f"I found {{several}} things [1]: {json.dumps(BOTH)} Done.",
    f'<think>Perhaps {{"objects": [{{"name": "no"}}]}}?</think>{json.dumps(BOTH)}',
    json.dumps(BOTH).replace("]", ",]").replace("}", " , }"),
    json.dumps([NEW, UPDATE, LINK]),
    "\n".join(json.dumps(each) for each in (NEW, UPDATE, LINK)),
    json.dumps({"result": BOTH}),
    json.dumps({"status": "ok", "data": BOTH, "more": {}}),
    f"```json\n{json.dumps({'objects': [NEW, UPDATE]})}\n```\nand\n```json\n{json.dumps({'relationships': [LINK]})}\n```",
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_reply_in_many_dresses(text: str) -> None:
    reply = read_reply(text)
    assert names(reply) == ["OAuth 2.0", UPDATE["id"]]
    assert reply.objects[0].properties == {"description": "Must support OAuth"}
    assert reply.objects[1].properties == {"expiration": "1 hour"}
    assert [(each.type, each.source, each.target) for each in reply.relationships] == [
        ("depends_on", "OAuth 2.0", "Zitadel")
    ]
    assert not reply.dropped


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        " null\n",
        "```json\nnull\n```",
        "{}[]",
        '{"objects": []}',
        '{"objects": null, "relationships": []}',
    ],
)
def test_nothing_new_is_a_reply(text: str) -> None:
    assert read_reply(text) == ExtractionReply()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "There is nothing new.",
        "42",
        '"objects"',
        "[1, 2]",
        "{}",
        '{"objects": {"a": 1}}',
        "[[]]",
        "[" * 5000,
    ],
)
def test_what_cannot_be_read_says_why(text: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        read_reply(text)
    assert caught.value.details["reason"]


def test_an_endless_reply_is_refused() -> None:
    with pytest.raises(UnreadableReply, match="longer than"):
        read_reply("[" + "1," * MAX_REPLY)


def test_a_cut_reply_keeps_what_is_complete_and_nothing_else() -> None:
    whole = json.dumps(
        {
            "objects": [
                {"type": "T", "name": f"n{n}", "part": {"name": "inner", "type": "T"}} for n in range(5)
            ]
        }
    )
    for end in range(1, len(whole)):
        try:
            reply = read_reply(whole[:end])
        except CutOffReply:
            continue
        assert reply.is_cut or whole[end - 1] in "]}"
        assert names(reply) == [f"n{n}" for n in range(len(reply.objects))]
        assert all(each.properties == {"part": {"name": "inner", "type": "T"}} for each in reply.objects)
        assert reply.dropped[-1].reason == "cut_off"
    assert len(read_reply(whole[:-3]).objects) == 4


def test_a_cut_in_the_relationships_keeps_the_objects() -> None:
    reply = read_reply(json.dumps(BOTH)[:-5])
    assert len(reply.objects) == 2
    assert reply.relationships == ()
    assert reply.dropped[-1].reason == "cut_off"


def test_one_broken_object_does_not_spoil_the_others() -> None:
    reply = read_reply(
        '{"objects": [{"type": "T", "name": "a"}, {"type": T, "x": {}}, {"type": "T", "name": "c"}]}'
    )
    assert names(reply) == ["a", "c"]


def test_too_many_are_dropped_with_a_reason() -> None:
    body = {
        "objects": [{"type": "T", "name": f"n{n}"} for n in range(10_000)],
        "relationships": [LINK] * (MAX_RELATIONSHIPS + 1),
    }
    reply = proposals(body)
    assert len(reply.objects) == MAX_OBJECTS
    assert len(reply.relationships) == MAX_RELATIONSHIPS
    assert [each.where for each in reply.dropped] == [
        f"objects[{MAX_OBJECTS}:]",
        f"relationships[{MAX_RELATIONSHIPS}:]",
    ]


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("OAuth", "it is not an object"),
        (None, "it is not an object"),
        ({"type": ["T"], "name": "a"}, "its type is not a text"),
        ({"type": "T", "name": {"en": "a"}}, "its name is not a text"),
        ({"id": True}, "its id is not a text"),
    ],
)
def test_a_wrong_shape_has_its_reason(item: Any, why: str) -> None:
    reply = proposals({"objects": [NEW, item]})
    assert len(reply.objects) == 1
    assert [(each.where, each.message) for each in reply.dropped] == [("objects[1]", why)]


@pytest.mark.parametrize("missing", ["type", "source", "target"])
def test_a_relationship_has_a_type_and_two_ends(missing: str) -> None:
    reply = proposals({"relationships": [LINK | {missing: None}]})
    assert reply.dropped[0].message == f"it has no {missing}"


def test_properties_of_strict_output_are_folded_back() -> None:
    item = NEW | {
        "id": None,
        "extra": [{"name": "expiration", "value": "1 hour"}],
        "properties": {"owner": "Ada"},
    }
    assert proposals({"objects": [item]}).objects[0].properties == {
        "owner": "Ada",
        "expiration": "1 hour",
        "description": "Must support OAuth",
    }


def test_what_cannot_be_stored_is_left_out() -> None:
    deep: Any = "x"
    for _ in range(20):
        deep = [deep]
    item = {
        "type": "T",
        "name": "a\x00b\ud800",
        "deep": deep,
        "big": 10**30,
        "endless": 1e999,
        "k\x00": "v\x00",
    }
    reply = proposals({"objects": [item]})
    assert reply.objects[0].name == "ab"
    assert reply.objects[0].properties == {"k": "v"}
    assert {each.where for each in reply.dropped} == {
        "objects[0].deep",
        "objects[0].big",
        "objects[0].endless",
    }


def test_an_object_has_so_many_properties_and_no_more() -> None:
    reply = proposals({"objects": [NEW | {f"p{n}": n for n in range(1000)}]})
    assert len(reply.objects[0].properties) == MAX_PROPERTIES
    assert reply.dropped[0].where == "objects[0]"


@pytest.mark.parametrize(
    "piece",
    ["[", '{"a":', '"', "\\", ",", "[[]", "```\n", "</think>", '{"name":"a","b":', '{"objects":[', "{", "}"],
)
def test_hostile_replies_come_to_an_end(piece: str) -> None:
    with contextlib.suppress(UnreadableReply):
        read_reply(piece * (200_000 // len(piece)))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["objects", "relationships", "id", "type", "name", "source", "target", "extra", "properties"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(_JSON, st.integers(0, 200))
def test_any_json_whole_or_cut_is_read_or_unreadable(body: Any, cut: int) -> None:
    text = json.dumps(body)
    for each in (text, text[:cut], f"```json\n{text}"):
        with contextlib.suppress(UnreadableReply):
            assert isinstance(read_reply(each), ExtractionReply)


@given(st.text() | st.text(alphabet='{}[]",:\\ \nabc1`', max_size=60))
def test_any_text_is_read_or_unreadable(text: str) -> None:
    with contextlib.suppress(UnreadableReply):
        assert isinstance(read_reply(text), ExtractionReply)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_spoils_only_its_own_value(token: str) -> None:
    reply = read_reply(f'{{"objects": [{{"type": "Team", "name": "SSO", "size": {token}, "floor": 3}}]}}')
    assert [(each.name, each.properties) for each in reply.objects] == [("SSO", {"floor": 3})]
    assert [each.where for each in reply.dropped] == ["objects[0].size"]


@pytest.mark.parametrize("part", ["{}", "7", '"none"', '{"type": "needs"}'])
def test_a_part_that_is_no_list_is_left_out(part: str) -> None:
    reply = read_reply(f'{{"objects": [{{"type": "Team", "name": "SSO"}}], "relationships": {part}}}')
    assert [each.name for each in reply.objects] == ["SSO"]
    assert [(each.where, each.item) for each in reply.dropped] == [("relationships", json.loads(part))]


def test_a_part_that_is_null_is_empty() -> None:
    assert read_reply('{"objects": [], "relationships": null}') == ExtractionReply()


GOOD = json.dumps(NEW)


@pytest.mark.parametrize(
    "broken",
    [
        '{"type": "Requirement", "name": "Login", oops}',
        '{"type": "Requirement" "name": "Login"}',
        '{"type": "Requirement", "name": "Login", "parts": [{"a": 1}, {"b" 2}]}',
        f'{{"type": "Requirement", "name": "Login", "deep": {"[" * 5_000}1{"]" * 5_000}}}',
    ],
    ids=["word", "comma", "inner", "deep"],
)
@pytest.mark.parametrize(
    "around", ['{"objects": [%s, %s], "relationships": []}', '{"objects": [%s, %s', "[%s, %s]"]
)
def test_an_object_that_is_no_json_is_told_of(broken: str, around: str) -> None:
    reply = read_reply(around % (broken, GOOD))
    assert names(reply) == ["OAuth 2.0"]
    (dropped,) = (each for each in reply.dropped if each.reason == "malformed")
    assert (dropped.where, dropped.count) == ("reply", 1)
    assert dropped.message.startswith('an object in it is not JSON: {"type": "Requirement"')
    assert len(dropped.message) < 200


def test_prose_with_brackets_is_no_broken_object() -> None:
    assert not read_reply(f"As [the {{chunk}} said], [1] and {{so on}}: {GOOD}").dropped


def test_what_is_no_object_in_a_bare_list_is_left_out() -> None:
    reply = read_reply(json.dumps([NEW, "Login", ["x"]]))
    assert names(reply) == ["OAuth 2.0"]
    assert [(each.where, each.message) for each in reply.dropped] == [
        ("objects[1]", "it is not an object"),
        ("objects[2]", "it is not an object"),
    ]


@pytest.mark.parametrize("digits", [19, 30, 400, 5_000, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_of_any_length_spoils_only_its_own_value(sign: str, digits: int) -> None:
    number = sign + "9" * digits
    reply = read_reply(f'{{"objects": [{{"type": "A", "name": "B", "n": {number}, "m": 1}}]}}')
    assert [each.properties for each in reply.objects] == [{"m": 1}]
    assert [each.where for each in reply.dropped] == ["objects[0].n"]


class TestEnds:
    """A relationship's ends by the schema's own words, and as objects."""

    @pytest.mark.parametrize(
        "link",
        [
            {"from": "OAuth 2.0", "to": "Zitadel"},
            {"source": None, "target": "", "from": "OAuth 2.0", "to": "Zitadel"},
            {"source": {"name": "OAuth 2.0"}, "target": {"id": "Zitadel", "name": "another"}},
            {"from": {"type": "Requirement", "name": " OAuth 2.0 "}, "to": {"id": None, "name": "Zitadel"}},
        ],
    )
    def test_they_are_read(self, link: dict[str, Any]) -> None:
        item = {"type": "depends_on", **link, "why": "x"}
        for body in ({"relationships": [item]}, [NEW, item]):
            reply = read_reply(json.dumps(body))
            (found,) = reply.relationships
            assert (found.source, found.target) == ("OAuth 2.0", "Zitadel")
            assert (found.properties, reply.dropped) == ({"why": "x"}, ())

    def test_one_of_each(self) -> None:
        link = {"type": "depends_on", "source": "OAuth 2.0", "to": "Zitadel"}
        (found,) = proposals({"relationships": [link]}).relationships
        assert (found.source, found.target, found.properties) == ("OAuth 2.0", "Zitadel", {})

    def test_beside_source_and_target_they_are_properties(self) -> None:
        (found,) = proposals({"relationships": [{**LINK, "from": "May", "to": "June"}]}).relationships
        assert (found.source, found.target) == ("OAuth 2.0", "Zitadel")
        assert found.properties == {"from": "May", "to": "June"}

    @pytest.mark.parametrize("end", [{}, {"type": "Team"}, {"name": ["a"]}, ["a"], {"name": {"name": "a"}}])
    def test_what_is_no_end_is_told_of(self, end: Any) -> None:
        for link in ({**LINK, "source": end}, {"type": "x", "from": end, "to": "b"}):
            reply = proposals({"relationships": [link]})
            assert ([each.where for each in reply.dropped], reply.relationships) == (["relationships[0]"], ())

    def test_an_object_that_goes_from_somewhere_to_somewhere_is_an_object(self) -> None:
        flight = {"id": UPDATE["id"], "from": "Bonn", "to": "Rome"}
        named = {"type": "Flight", "name": "LH 1", "from": "Bonn", "to": "Rome"}
        reply = read_reply(json.dumps([flight, named]))
        assert [each.properties for each in reply.objects] == [{"from": "Bonn", "to": "Rome"}] * 2
        assert reply.relationships == ()


def test_replies_to_two_halves_become_one_that_says_where_each_part_was() -> None:
    first, second = read_reply(json.dumps(BOTH)), read_reply('[{"type": "T", "name": "c"}, "x"]')
    reply = joined([first, second])
    assert len(reply.objects) == len(first.objects) + 1
    assert [each.where for each in reply.objects[-1:]] == ["part 2: objects[0]"]
    assert [each.where for each in reply.dropped] == ["part 2: objects[1]"]
    assert [each.where for each in reply.relationships] == ["part 1: relationships[0]"]


@given(st.text(alphabet="ab. \n。", max_size=200))
def test_a_text_is_split_near_its_middle_and_nothing_is_lost(text: str) -> None:
    halves = split_in_two(text)
    if halves is not None:
        assert "".join(halves) == text
        assert min(map(len, halves)) >= len(text) // 4


def test_a_text_is_split_between_paragraphs_before_sentences_before_words() -> None:
    assert split_in_two("One is. Two is.\n\nThree is. Four is.") == (
        "One is. Two is.\n\n",
        "Three is. Four is.",
    )
    assert split_in_two("One is it. Two is it.") == ("One is it. ", "Two is it.")
    assert split_in_two("one two") == ("one ", "two")
    assert split_in_two("onetwo") is None
