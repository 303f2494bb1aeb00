"""What is always true of a merge, whatever the reply."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from tests.merging import KNOWN, OAUTH, SCHEMA, ZITADEL, Merged, changes, known, merged

from whence.extract.context import KnownObject

_NAMES = st.sampled_from(["OAuth 2.0", "oauth 2.0.", "Zitadel IdP", "SSO", "Vault", "Nowhere", ""])
_VALUES = st.sampled_from(
    ["1 hour", "high", "low", "5", 5, "red", None, ["1 hour", "red"], "something else", True]
)
_OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([str(OAUTH), str(ZITADEL), "obj-1"]),
        "type": st.sampled_from(["Requirement", "component", "Team", "Dragon"]),
        "name": _NAMES,
        "description": _VALUES,
        "priority": _VALUES,
        "effort": _VALUES,
        "version": _VALUES,
        "other thing": _VALUES,
        "otherThing": _VALUES,
    },
)
_LINKS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["depends_on", "concerns", "owned_by"]),
        "source": _NAMES | st.just(str(OAUTH)),
        "target": _NAMES | st.just(str(ZITADEL)),
    }
)
_CASES = st.fixed_dictionaries(
    {
        "objects": st.lists(_OBJECTS, max_size=5),
        "links": st.lists(_LINKS, max_size=4),
        "text": st.lists(
            st.sampled_from(["OAuth 2.0", "SSO", "vault", "1 hour", "high", "5", "red", "…"])
        ).map(" ".join),
        "context": st.lists(st.sampled_from(["Vault takes 1 hour", "Zitadel IdP low", "SSO"]), max_size=2),
    }
)


def applied(there: Sequence[KnownObject], outcome: Merged) -> list[KnownObject]:
    """What the graph has afterwards, with ids that follow from the keys."""
    changes = {each.id: each.properties for each in outcome.updates}
    kept = [
        known(each.id, each.type, each.name, **{**each.properties, **changes.get(each.id, {})})
        for each in there
    ]
    fresh = [
        known(UUID(int=1000 + len(there) + at), each.type, each.name, **each.properties)
        for at, each in enumerate(outcome.objects)
    ]
    return kept + fresh


def outcome_of(case: dict[str, Any], there: Sequence[KnownObject] = KNOWN) -> Merged:
    return merged(case["text"], *case["objects"], links=case["links"], context=case["context"], there=there)


@given(_CASES)
def test_the_same_reply_gives_the_same_outcome(case: dict[str, Any]) -> None:
    assert outcome_of(case) == outcome_of(case)


@given(_CASES)
def test_every_quote_is_a_slice_of_the_primary_chunk(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    spans = [
        *(each.span for each in (*outcome.claims, *outcome.support)),
        *(each.span for each in outcome.relationships),
    ]
    for span in spans:
        if span is not None:
            assert case["text"][span.start : span.end] == span.quote


@given(_CASES)
def test_every_property_that_is_taken_over_has_its_claim(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    new = {(each.ref, name) for each in outcome.objects for name in ("name", *each.properties)}
    more = {(each.id, name) for each in outcome.updates for name in each.properties}
    claims = [(each.object, each.property) for each in outcome.claims]
    assert len(claims) == len(set(claims))
    assert set(claims) == new | more


@given(_CASES)
def test_a_second_time_changes_nothing(case: dict[str, Any]) -> None:
    after = applied(KNOWN, outcome_of(case))
    again = outcome_of(case, after)
    assert changes(again) == ()


@given(_CASES)
def test_an_echo_of_everything_changes_nothing(case: dict[str, Any]) -> None:
    there = applied(KNOWN, outcome_of(case))
    echoes = [{"id": str(each.id), "type": each.type, "name": each.name, **each.properties} for each in there]
    outcome = merged(case["text"], *echoes, there=there, context=case["context"])
    assert changes(outcome) == ()
    assert outcome.rejections == ()
    assert outcome.support == merged(case["text"], there=there, context=case["context"]).support


@given(_CASES)
def test_the_ends_of_a_relationship_are_there_and_allowed(case: dict[str, Any]) -> None:
    outcome = outcome_of(case)
    types: dict[Any, str] = {each.id: each.type for each in KNOWN} | {
        each.ref: each.type for each in outcome.objects
    }
    for each in outcome.relationships:
        kind = SCHEMA.relationship_types[each.type]
        assert types[each.source] in (kind.sources or types.values())
        assert types[each.target] in (kind.targets or types.values())
