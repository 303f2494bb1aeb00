"""What the ledger keeps of proposals that were not taken over: enough to see what a model did, and no more."""

import json
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from whence.chunk_findings import RejectedProposal
from whence.extract.context import ChunkText
from whence.extract.merge import merge
from whence.extract.reply import ExtractionReply, proposals, read_reply
from whence.extract.schema_reading import read_schema
from whence.extract.to_store import LONGEST, MOST, kept, summary

SCHEMA = read_schema(
    {
        "object_types": {
            "Component": {
                "properties": {"port_count": {"type": "integer"}, "note": {}},
                "additional_properties": False,
            },
            "Port": {"properties": {"number": {"type": "integer", "required": True}}},
        },
        "relationship_types": {"needs": {}},
    }
)


def rejected(text: str, reply: ExtractionReply) -> tuple[RejectedProposal, ...]:
    primary = ChunkText(id=uuid4(), text=text)
    outcome = merge(schema=SCHEMA, known=(), primary=primary, context=(), reply=reply)
    return kept(outcome.rejections, reply)


def told(text: str, *objects: Any, **more: Any) -> list[tuple[str, str, Any]]:
    found = rejected(text, proposals({"objects": list(objects), **more}))
    return [(one.where, one.reason, one.proposed and json.loads(one.proposed)) for one in found]


def test_a_rejection_shows_what_was_proposed() -> None:
    omega = {"type": "Port", "name": "Omega", "note": "new"}
    assert told(
        "Alpha and Omega are there.",
        {"type": "Component", "name": "Alpha", "Port Count": "many", "colour": "red"},
        {"type": "Unheard", "name": "Alpha"},
        omega,
        relationships=[{"type": "needs", "source": "Alpha", "target": "Psi"}],
    ) == [
        ("objects[0].Port Count", "wrong_value", "many"),
        ("objects[0].colour", "unknown_property", "red"),
        ("objects[1]", "unknown_type", {"type": "Unheard", "name": "Alpha"}),
        ("objects[2]", "missing_required", omega),
        ("relationships[0]", "unknown_end", {"type": "needs", "source": "Alpha", "target": "Psi"}),
    ]


def test_what_is_said_of_one_object_in_two_places_is_shown_at_its_own() -> None:
    ident = str(uuid4())
    named = {"type": "Component", "name": "Alpha"}
    assert told("Alpha is there.", named, {**named, "port_count": "many"}, {"id": ident, "note": "x"}) == [
        ("objects[1].port_count", "wrong_value", "many"),
        ("objects[2]", "unknown_id", {"id": ident, "note": "x"}),
    ]


def test_what_is_no_proposal_is_shown_as_it_stood_there() -> None:
    assert told("Alpha.", 7, {"type": ["Component"], "name": "Alpha"}, relationships=[{"type": "needs"}]) == [
        ("objects[0]", "malformed", 7),
        ("objects[1]", "malformed", {"type": ["Component"], "name": "Alpha"}),
        ("relationships[0]", "malformed", {"type": "needs"}),
    ]


def test_where_there_is_nothing_to_show_nothing_is_shown() -> None:
    cut = read_reply('{"objects": [{"type": "Component", "name": "Alpha"}, {"type": "Comp')
    assert [(one.where, one.proposed) for one in rejected("Alpha.", cut)] == [("reply", None)]


def test_the_first_are_kept_and_none_is_long() -> None:
    many = [{"type": "Port", "name": f"Omega {at}", "note": "long " * 1000} for at in range(50)]
    found = rejected("Alpha.", proposals({"objects": many}))
    assert [one.where for one in found] == [f"objects[{at}]" for at in range(MOST)]
    assert {len(one.proposed or "") for one in found} == {LONGEST}
    assert all((one.proposed or "").endswith("…") for one in found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.lists(JSON, max_size=30), st.lists(JSON, max_size=5))
def test_whatever_a_model_says_what_is_kept_of_it_is_bounded(
    objects: list[Any], relationships: list[Any]
) -> None:
    found = rejected("Alpha.", proposals({"objects": objects, "relationships": relationships}))
    assert len(found) <= MOST
    assert all(len(text or "") <= LONGEST for one in found for text in (one.where, one.message, one.proposed))


def test_what_is_dropped_together_is_counted_one_by_one() -> None:
    many = {f"p{at}": "x" for at in range(103)}
    links = [{"type": "needs", "source": "Alpha", "target": f"n{at}"} for at in range(405)]
    reply = proposals({"objects": [{"type": "Port", "name": "Alpha", **many}], "relationships": links})
    outcome = merge(
        schema=SCHEMA, known=(), primary=ChunkText(id=uuid4(), text="Alpha"), context=(), reply=reply
    )
    assert summary(outcome.rejections) == "Rejected: malformed 8, missing_required 1, unknown_end 400"
    assert sum(each.count for each in outcome.rejections) == 409
    assert len(kept(outcome.rejections, reply)) == MOST
