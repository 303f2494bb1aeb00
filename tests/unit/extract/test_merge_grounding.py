"""Whatever is taken over comes from the primary chunk: the table of docs/extraction.md, row by row."""

from functools import partial
from typing import Any, ClassVar, Literal

import pytest
from tests import merging
from tests.merging import OAUTH, ZITADEL, Merged, changes, known, reasons

from whence.extract.schema_reading import read_schema

merged = partial(merging.merged, lenient=True)
"""What only the context has is rejected in lenient projects, too."""

Where = Literal["primary", "context", "nowhere"]
End = Literal["quoted", "unquoted", "rejected", "whole rejected"]

NAME = "Payment Gateway"
HERE = "Nothing of the kind is said here."


def outcome_of(name: Where, value: Where, said: Any, *, by: str) -> Merged:
    """What becomes of one property: its name and its value stand where the row has them."""
    texts: dict[Where, str] = {"primary": HERE, "context": "Before that.", "nowhere": ""}
    texts[name] += f" {NAME} it is."
    texts[value] += f" It is {said}."
    there = [] if by == "new" else [known(OAUTH, "Requirement", NAME)]
    who = {"id": str(OAUTH)} if by == "id" else {"type": "Requirement", "name": NAME}
    return merged(texts["primary"], {**who, "state": said}, there=there, context=[texts["context"]])


def end_of(outcome: Merged) -> End:
    claims = [claim for claim in outcome.claims if claim.property == "state"]
    if claims:
        assert reasons(outcome) == []
        return "quoted" if claims[0].span else "unquoted"
    ((where, reason),) = reasons(outcome)
    assert reason == "context_only"
    assert bool(outcome.objects) or where == "objects[0]" or changes(outcome) == ()
    return "whole rejected" if where == "objects[0]" else "rejected"


SPECIFIC, COMMON = "45 minutes", "high"

TABLE: list[tuple[Where, str, Where, tuple[End, End, End]]] = [
    # the value    which     the name   by id       by name     new
    ("primary", SPECIFIC, "primary", ("quoted", "quoted", "quoted")),
    ("primary", SPECIFIC, "context", ("quoted", "quoted", "quoted")),
    ("primary", SPECIFIC, "nowhere", ("quoted", "quoted", "quoted")),
    ("primary", COMMON, "primary", ("quoted", "quoted", "quoted")),
    ("primary", COMMON, "context", ("quoted", "quoted", "quoted")),
    ("primary", COMMON, "nowhere", ("quoted", "quoted", "quoted")),
    ("context", SPECIFIC, "primary", ("rejected", "rejected", "rejected")),
    ("context", SPECIFIC, "context", ("rejected", "rejected", "whole rejected")),
    ("context", SPECIFIC, "nowhere", ("rejected", "rejected", "whole rejected")),
    ("context", COMMON, "primary", ("unquoted", "unquoted", "unquoted")),
    ("context", COMMON, "context", ("rejected", "rejected", "whole rejected")),
    ("context", COMMON, "nowhere", ("unquoted", "unquoted", "unquoted")),
    ("nowhere", SPECIFIC, "primary", ("unquoted", "unquoted", "unquoted")),
    ("nowhere", SPECIFIC, "context", ("unquoted", "rejected", "whole rejected")),
    ("nowhere", SPECIFIC, "nowhere", ("unquoted", "unquoted", "unquoted")),
    ("nowhere", COMMON, "primary", ("unquoted", "unquoted", "unquoted")),
    ("nowhere", COMMON, "context", ("unquoted", "rejected", "whole rejected")),
    ("nowhere", COMMON, "nowhere", ("unquoted", "unquoted", "unquoted")),
]


@pytest.mark.parametrize(("value", "said", "name", "ends"), TABLE)
def test_the_table(value: Where, said: str, name: Where, ends: tuple[End, ...]) -> None:
    found = [end_of(outcome_of(name, value, said, by=by)) for by in ("id", "name", "new")]
    assert tuple(found) == ends


@pytest.mark.parametrize(
    ("value", "beside", "is_specific"),
    [
        ("2024-03-01", "On 1 March 2024.", True),
        ("v7", "It is v7.", True),
        ("two weeks", "It takes two weeks.", True),
        ("Jane Doe", "Jane Doe wrote it.", True),
        ("Bank of England", "The Bank of England.", True),
        ("open to all", "It is open to all.", True),
        ("identity provider", "It is an identity provider.", False),
        ("Identity Provider", "It is an identity provider.", False),
        ("identity provider", "Identity provider it is.", False),
        ("provider", "A provider.", False),
        ("Keycloak", "Keycloak it is.", False),
        (12, "Page 12.", False),
    ],
)
def test_what_is_specific(value: Any, beside: str, *, is_specific: bool) -> None:
    """The same of a chunk beside and of another object that was shown."""
    shown = known(ZITADEL, "Team", "Other", note=beside)
    for there, context in (([], [beside]), ([shown], [])):
        new = {"type": "Requirement", "name": "OAuth 2.0", "x": value}
        outcome = merged("OAuth 2.0 is meant.", new, there=there, context=context)
        assert reasons(outcome) == ([("objects[0].x", "context_only")] if is_specific else [])


class TestNewWithoutItsWholeName:
    """A value of the primary chunk speaks for a new object whose name only the context has."""

    REGULATION = "The General Data Protection Regulation (GDPR) applies to us."
    NAME = "General Data Protection Regulation"

    @pytest.mark.parametrize(
        ("text", "beside", "name", "value"),
        [
            (
                "It accepts cards of all banks.",
                "The Payment Gateway is new.",
                "Payment Gateway",
                "accepts cards",
            ),
            ("Doe is vice president since 2024.", "Jane Doe joined in 2019.", "Jane Doe", "vice president"),
            ("She is the director.", "Jane Doe joined in 2019.", "Jane Doe", "director"),
        ],
    )
    def test_it_is_taken_over_with_the_quote_of_its_value(
        self, text: str, beside: str, name: str, value: str
    ) -> None:
        new = {"type": "Requirement", "name": name, "x": value}
        outcome = merged(text, new, there=(), context=[beside])
        assert reasons(outcome) == []
        quotes = [(each.property, each.span and each.span.quote) for each in outcome.claims]
        assert quotes == [("name", None), ("x", value)]

    def test_what_only_the_context_says_of_it_is_not(self) -> None:
        new = {"type": "Requirement", "name": self.NAME, "x": "30 days", "since": "25 May 2018", "to": "us"}
        beside = f"{self.REGULATION} It began on 25 May 2018."
        outcome = merged("That requires deletion within 30 days.", new, there=(), context=[beside])
        assert reasons(outcome) == [("objects[0].since", "context_only"), ("objects[0].to", "context_only")]
        assert [each.properties for each in outcome.objects] == [{"x": "30 days"}]

    def test_an_alias_that_the_context_resolves_is_as_good_as_the_name(self) -> None:
        new = {"type": "Requirement", "name": self.NAME, "since": "25 May 2018"}
        beside = f"{self.REGULATION} It began on 25 May 2018."
        outcome = merged("GDPR requires deletion within 30 days.", new, there=(), context=[beside])
        assert reasons(outcome) == [("objects[0].since", "context_only")]
        assert [(each.property, each.span and each.span.quote) for each in outcome.claims] == [
            ("name", "GDPR")
        ]

    @pytest.mark.parametrize(
        "said", [{}, {"x": "applies to us"}, {"x": "is binding"}, {"x": "high"}, {"tags": ["high", 3]}]
    )
    def test_nor_is_it_where_no_value_speaks_for_it(self, said: dict[str, Any]) -> None:
        """A common word that stands in both says nothing of who it is said of."""
        new = {"type": "Requirement", "name": self.NAME, **said}
        beside = f"{self.REGULATION} The 3 fines are high."
        outcome = merged("The rent is high, for 3 rooms.", new, there=(), context=[beside])
        assert (reasons(outcome), changes(outcome)) == ([("objects[0]", "context_only")], ())


def test_ordinary_words_are_said_of_what_the_chunk_names_though_another_is_so_beside_it() -> None:
    schema = read_schema({"object_types": {"System": {"properties": {"description": {"required": True}}}}})
    new = {"type": "System", "name": "Zitadel", "description": "identity provider"}
    there = [known(OAUTH, "System", "Keycloak", description="identity provider")]
    beside = "Keycloak is an identity provider that we once used."
    outcome = merged("Zitadel authenticates users.", new, there=there, context=[beside], schema=schema)
    assert reasons(outcome) == []
    assert [(each.property, each.span and each.span.quote) for each in outcome.claims] == [
        ("name", "Zitadel"),
        ("description", None),
    ]


class TestWhatASeedSays:
    """Sentences of the user's own document, and of any other."""

    FIRST = "The system must support OAuth 2.0 for authentication."

    def test_a_new_property_of_what_is_named_but_for_its_version(self) -> None:
        text = "OAuth tokens must expire within 1 hour. After that users sign in again."
        outcome = merged(text, {"id": str(OAUTH), "priority": "high"}, context=[self.FIRST])
        assert reasons(outcome) == []
        assert [(claim.property, claim.value, claim.span) for claim in outcome.claims] == [
            ("priority", "high", None)
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("must support OAuth for login", {"name": "OAuth 2.0", "description": "Users log in by OAuth"}),
            ("tokens must expire within 1 hour", {"name": "Token expiry", "description": "Sixty minutes"}),
            ("The Payment Gateways of the shop", {"name": "Payment Gateway"}),
            ("sign in with their Google account", {"name": "Google login", "priority": "high"}),
            ("Nothing of all that.", {"name": "Omega", "effort": 77}),
        ],
    )
    def test_a_paraphrase_is_taken_over_without_a_quote(self, text: str, said: dict[str, Any]) -> None:
        outcome = merged(text, {"type": "Requirement", **said}, there=(), context=["Something else."])
        assert reasons(outcome) == []
        assert [claim.property for claim in outcome.claims] == list(said)
        assert [claim.span for claim in outcome.claims] == [None] * len(said)

    def test_a_value_of_the_next_chunk_does_not_come_in_with_a_name_of_this_one(self) -> None:
        said = {"type": "Requirement", "name": "OAuth 2.0", "expiration": "45 minutes"}
        text = "OAuth 2.0 brings users to the start page."
        outcome = merged(text, said, there=(), context=["Tokens are valid for 45 minutes."])
        assert reasons(outcome) == [("objects[0].expiration", "context_only")]
        assert [(each.name, each.properties) for each in outcome.objects] == [("OAuth 2.0", {})]

    @pytest.mark.parametrize("value", [["45 minutes"], {"after": "45 minutes"}, 450])
    def test_nor_does_it_in_a_list_or_as_a_number(self, value: Any) -> None:
        said = {"id": str(OAUTH), "expiration": value}
        outcome = merged("OAuth 2.0", said, context=["valid for 45 minutes, or 450"])
        assert reasons(outcome) == [("objects[0].expiration", "context_only")]

    def test_of_a_list_that_nobody_has_in_full_no_common_word_tells(self) -> None:
        said = {"id": str(OAUTH), "tags": ["fast", "always there"]}
        assert reasons(merged("OAuth 2.0", said, context=["A fast boat."])) == []

    def test_nor_in_a_script_without_spaces(self) -> None:
        there = [known(OAUTH, "Requirement", "認証")]
        outcome = merged(
            "認証がある。", {"id": str(OAUTH), "x": "四十五分間"}, there=there, context=["四十五分間有効"]
        )
        assert reasons(outcome) == [("objects[0].x", "context_only")]


class TestNames:
    """Who is spoken of: a new object of which only the context has the whole name."""

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("OAuth 2.0", "OAuth tokens expire"),
            ("Python 3.11", "written in python."),
            ("Postgres version 16", "Postgres keeps it"),
            ("Payment Gateway", "all payment gateways"),
            ("Security Policies", "the security policy"),
            ("Databases", "one database"),
            ("Start of the Project", "when the project did start"),
            ("Gateway for Payments", "a payment takes the gateway"),
        ],
    )
    def test_named_in_other_words(self, name: str, text: str) -> None:
        outcome = merged(text, {"type": "Team", "name": name}, context=[f"{name} was named before."])
        assert [each.name for each in outcome.objects] == [name]
        assert outcome.claims[0].span is None

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("OAuth 2.0", "OAuth 1.0 is out"),
            ("Step 3", "in step 2"),
            ("REQ-12", "see REQ-7"),
            ("REQ-12", "a req of 12 days, no: req 7"),
            ("Payment Gateway", "payment in cash"),
            ("Status", "the statue"),
            ("The Of", "the end of it"),
        ],
    )
    def test_something_else(self, name: str, text: str) -> None:
        outcome = merged(text, {"type": "Team", "name": name}, context=[f"{name} was named before."])
        assert reasons(outcome) == [("objects[0]", "context_only")]

    def test_the_context_names_it_in_the_plural(self) -> None:
        outcome = merged(
            "Nothing.", {"type": "Team", "name": "Payment Gateway"}, context=["Payment Gateways"]
        )
        assert reasons(outcome) == [("objects[0]", "context_only")]


def test_what_is_required_and_comes_from_the_context_is_missing() -> None:
    said = {"type": "Component", "name": "Vault", "version": "7.7"}
    assert merged("Vault is used.", said).objects
    outcome = merged("Vault is used.", said, context=["In version 7.7"])
    assert reasons(outcome) == [("objects[0].version", "context_only"), ("objects[0]", "missing_required")]


class TestSmallNumbers:
    @pytest.mark.parametrize(
        ("text", "value", "context", "quote"),
        [
            ("1. The upload is repeated twice.", 2, "2. Backups are written.", "twice"),
            ("1. The upload is repeated.", 1, "2. Backups.", None),
            ("It ends after one hour.", "1 hour", "It ends after 1 hour too.", "one hour"),
            ("It is repeated a few times.", 3, "It has 3 doors.", None),
            ("It is repeated\n3 times.", 3, "Nothing.", "3"),
            ("It is repeated.", "12", "Page 12", None),
        ],
    )
    def test_they_may_stand_beside_by_chance(
        self, text: str, value: Any, context: str, quote: str | None
    ) -> None:
        outcome = merged(f"{text} OAuth 2.0.", {"id": str(OAUTH), "x": value}, context=[context])
        assert reasons(outcome) == []
        ((found, span),) = [(claim.value, claim.span) for claim in outcome.claims]
        assert (found, span.quote if span else None) == (value, quote)

    def test_a_version_is_no_count(self) -> None:
        outcome = merged("OAuth 2.0 has two.zero", {"id": str(OAUTH), "x": "2.0.1"}, context=["2.0.1"])
        assert reasons(outcome) == [("objects[0].x", "context_only")]


class TestParts:
    BESIDE = "The token expires in 45 minutes."

    def test_of_a_list_only_what_leaks_is_taken_out(self) -> None:
        said = {"id": str(OAUTH), "tags": ["blue ink", "expires in 45 minutes", "own words"]}
        outcome = merged("OAuth 2.0 has blue ink.", said, context=[self.BESIDE])
        assert [each.properties for each in outcome.updates] == [{"tags": ["blue ink", "own words"]}]
        assert [(each.where, each.reason, each.message) for each in outcome.rejections] == [
            (
                "objects[0].tags",
                "context_only",
                "only a context chunk says 'expires in 45 minutes'; the primary chunk does not",
            )
        ]
        there = [known(OAUTH, "Requirement", "OAuth 2.0", tags=["blue ink", "own words"])]
        again = merged("OAuth 2.0 has blue ink.", said, there=there, context=[self.BESIDE])
        assert changes(again) == ()

    def test_what_the_list_had_before_is_no_claim_of_this_chunk(self) -> None:
        there = [known(OAUTH, "Requirement", "OAuth 2.0", tags=["45 minutes"])]
        said = {"id": str(OAUTH), "tags": ["45 minutes", "blue ink"]}
        outcome = merged("OAuth 2.0 has blue ink.", said, there=there, context=[self.BESIDE])
        assert reasons(outcome) == []
        assert [each.properties for each in outcome.updates] == [{"tags": ["blue ink"]}]

    def test_an_object_is_rejected_for_one_field(self) -> None:
        said = {"id": str(OAUTH), "limits": {"ink": "blue ink", "time": "45 minutes"}}
        outcome = merged("OAuth 2.0 has blue ink.", said, context=[self.BESIDE])
        assert reasons(outcome) == [("objects[0].limits", "context_only")]

    def test_a_property_of_a_relationship(self) -> None:
        link = {"type": "concerns", "source": "OAuth 2.0", "target": "Zitadel IdP", "since": "5 March 1999"}
        text, beside = "OAuth 2.0 needs Zitadel IdP.", "Bought on 5 March 1999."
        outcome = merged(text, links=[link | {"why": "for good"}], context=[beside])
        assert reasons(outcome) == [("relationships[0].since", "context_only")]
        assert [each.properties for each in outcome.relationships] == [{"why": "for good"}]
        assert reasons(merged(f"{text} {beside}", links=[link], context=[beside])) == []


class TestChosen:
    """One of the few values that the schema allows is chosen, whatever the chunk beside has."""

    ENUM: ClassVar[dict[str, Any]] = {"enum": ["not started", "in progress", "done"]}
    BESIDE = "Billing is in progress."

    @pytest.mark.parametrize(
        ("definition", "value"),
        [
            (ENUM, "in progress"),
            ({"type": "array", "items": ENUM}, ["in progress"]),
            ({"type": "object", "properties": {"of": ENUM}}, {"of": "in progress"}),
            ({"anyOf": [{"type": "integer"}, ENUM]}, "in progress"),
            ({"const": "in progress"}, "in progress"),
        ],
    )
    @pytest.mark.parametrize("by", ["id", "name", "new"])
    def test_it_is_taken_over(self, definition: Any, value: Any, by: str) -> None:
        schema = read_schema(
            {
                "object_types": {"Requirement": {"properties": {"status": definition}}},
                "relationship_types": {"concerns": {"properties": {"status": definition}}},
            }
        )
        other = known(ZITADEL, "Requirement", "Billing")
        there = [other] if by == "new" else [other, known(OAUTH, "Requirement", "SSO")]
        who = {"id": str(OAUTH)} if by == "id" else {"type": "Requirement", "name": "SSO"}
        link = {"type": "concerns", "source": "SSO", "target": "Billing", "status": value}
        text = "SSO: work has begun in March."
        outcome = merged(
            text, {**who, "status": value}, links=[link], there=there, context=[self.BESIDE], schema=schema
        )
        assert reasons(outcome) == []
        claims = [(each.value, each.span) for each in outcome.claims if each.property == "status"]
        assert claims == [(value, None)]
        assert [each.properties for each in outcome.relationships] == [{"status": value}]

    def test_it_speaks_for_nobody_of_whom_only_the_context_does(self) -> None:
        schema = read_schema({"object_types": {"Requirement": {"properties": {"status": self.ENUM}}}})
        said = {"type": "Requirement", "name": "Billing", "status": "in progress"}
        there = [known(OAUTH, "Requirement", "Billing")]
        for all_known in ([], there):
            outcome = merged("Work has begun.", said, there=all_known, context=[self.BESIDE], schema=schema)
            assert [reason for _, reason in reasons(outcome)] == ["context_only"]
        by_id = {"id": str(OAUTH), "status": "in progress"}
        outcome = merged("Work has begun.", by_id, there=there, context=[self.BESIDE], schema=schema)
        assert reasons(outcome) == []
