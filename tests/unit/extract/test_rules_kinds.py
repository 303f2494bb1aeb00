"""What the rules make of the ways in which people write requirements, contracts, READMEs and minutes."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    KnownObject,
    name_key,
    propose,
    read_schema,
)


def found(
    text: str,
    *,
    headings: tuple[str, ...] = (),
    beside: Sequence[str] = (),
    known: Sequence[KnownObject] = (),
) -> dict[str, Any]:
    context = ExtractionContext(
        primary=ChunkText(id=UUID(int=1), text=text, headings=headings),
        previous=tuple(ChunkText(id=UUID(int=at), text=one) for at, one in enumerate(beside, start=2)),
        objects=tuple(known),
    )
    return propose(DEFAULT_SCHEMA, context)


def names(text: str, **around: Any) -> list[tuple[str, str]]:
    return [(each["type"], each["name"]) for each in found(text, **around)["objects"]]


def links(text: str) -> list[tuple[str, str, str]]:
    return [(each["type"], each["source"], each["target"]) for each in found(text)["relationships"]]


class TestWhatSomethingIs:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Jane Doe is the CEO of a company.", [("Person", "Jane Doe")]),
            ("Jane Doe is the owner of a service.", [("Person", "Jane Doe")]),
            ("Peter Pan is a software engineer who flies.", [("Person", "Peter Pan")]),
            ("Turbine is a job queue written in Go.", [("Component", "Turbine")]),
            ("Homebrew Cask is a package manager for macOS.", [("System", "Homebrew Cask")]),
            ("Acme is a software company.", [("Organization", "Acme")]),
            ("Kestrel is a modern, fast (really), web framework.", [("Component", "Kestrel")]),
            ("Single Sign-On is a method of logging in once.", [("Concept", "Single Sign-On")]),
            ("Peter Pan is a fan of flying.", []),
            ("Kestrel Two is the latest version of the platform.", []),
            ("Scrum is a framework for teams.", []),
            ("`size` is the number of rows.", []),
            ("**Lantern** is the light of the harbour.", [("Concept", "Lantern")]),
            ("**Size is the alarm**, not the law of the code.", []),
        ],
    )
    def test_the_noun_that_ends_the_phrase_says_it(self, text: str, expected: list[tuple[str, str]]) -> None:
        assert names(text) == expected

    def test_who_leads_a_company_works_for_it(self) -> None:
        assert names("John Smith is the CEO of Acme Corporation.") == [
            ("Person", "John Smith"),
            ("Organization", "Acme Corporation"),
        ]
        assert links("John Smith is the CEO of Acme Corporation.") == [
            ("works_for", "John Smith", "Acme Corporation")
        ]

    def test_the_subject_of_the_document_may_be_written_small(self) -> None:
        text = "acme-sync is a command-line tool that copies files."
        assert names(text, headings=("acme-sync",)) == [("System", "acme-sync")]
        assert names(text) == []

    def test_a_team_that_owns_is_no_person(self) -> None:
        text = "## Billing Service\nOwner: Payments Team"
        assert names(text) == [("Component", "Billing Service"), ("Organization", "Payments Team")]
        assert links(text) == [("owns", "Payments Team", "Billing Service")]

    @pytest.mark.parametrize(
        "text",
        [
            "- **Fixed**: the crash at the start",
            "- **Added**: a way to go on",
            "**Warning**: the bucket must be there",
            "**Important:** a thing that matters",
            "**Tip:** the fastest way **Note:** the slowest way",
            "# Kestrel\n\n- **Fast**: Very high performance for all",
            "## Features\n\n- **Cache**: the store of what was read",
            "## Roadmap\n\n- [ ] Segments for everybody",
            "**Packing is greedy**: a chunk ends where it must",
            "THE ENTIRE RISK AS TO THE QUALITY IS WITH YOU.",
        ],
    )
    def test_labels_are_no_terms(self, text: str) -> None:
        assert names(text) == []

    def test_a_meaning_ends_where_the_next_term_begins(self) -> None:
        text = "## Glossary\n\n**Ledger**: the list of all bookings **MFA**: two factors"
        (ledger,) = found(text)["objects"]
        assert ledger["description"] == "the list of all bookings"

    def test_terms_below_a_heading_for_them(self) -> None:
        text = (
            "**Portal**: the web site.\n**MFA**: two factors.\n- Booker – who pays\n- Traveller: who travels"
        )
        assert names(text, headings=("Handbook", "3. Glossary")) == [
            ("Concept", "Portal"),
            ("Concept", "MFA"),
            ("Concept", "Booker"),
            ("Concept", "Traveller"),
        ]

    def test_parts_below_a_heading_for_them(self) -> None:
        text = "### Dispatcher\n\nIt assigns jobs. It depends on the Rate Limiter."
        assert names(text, headings=("Turbine", "Components", "Dispatcher"))[0] == ("Component", "Dispatcher")
        assert names("### Data flow\n\nIt flows.", headings=("Turbine", "Components", "Data flow")) == []
        assert names("### Dispatcher\n\nIt assigns jobs.", headings=("Turbine", "Dispatcher")) == []


class TestRequirements:
    def test_what_the_system_shall_do_needs_no_number(self) -> None:
        assert found("1. The system shall lock the account after five attempts.")["objects"] == [
            {
                "type": "Requirement",
                "priority": "high",
                "name": "The system shall lock the account after five attempts",
                "description": "The system shall lock the account after five attempts.",
            }
        ]

    def test_whatever_must_be_among_requirements(self) -> None:
        text = "Sessions must end after 30 minutes. It must be so. If all fails, the door should stay open."
        assert [name for _, name in names(text, headings=("Door Requirements",))] == [
            "Sessions must end after 30 minutes",
            "If all fails, the door should stay open",
        ]
        assert names(text) == []
        assert names(text, headings=("Door Requirements", "Introduction")) == []

    def test_what_follows_a_number_belongs_to_it(self) -> None:
        text = "REQ-1: The door must open.\n\nREQ-2 The door must close. The hinge must be oiled for that."
        assert names(text, headings=("Requirements",)) == [("Requirement", "REQ-1"), ("Requirement", "REQ-2")]

    @pytest.mark.parametrize(
        ("line", "name"),
        [
            ("US-12 As a user, I want to log in.", "US-12"),
            ("AC-1: Given a user, when she logs in, then it opens.", "AC-1"),
            ("* FR1 The door must open.", "FR1"),
        ],
    )
    def test_stories_and_criteria(self, line: str, name: str) -> None:
        assert names(line) == [("Requirement", name)]

    def test_a_date_in_brackets_is_when_it_is_due(self) -> None:
        requirement, _ = found("REQ-1: It must work (owner: Tom Baker, due 2024-06-30).")["objects"]
        assert (requirement["description"], requirement["due"]) == ("It must work", "2024-06-30")

    @pytest.mark.parametrize(
        ("said", "priority"),
        [
            ("The system may not store passwords in clear text.", "high"),
            ("The system MAY  NOT store passwords.", "high"),
            ("The system cannot be started twice.", "high"),
            ("The system can not be started twice.", "high"),
            ("No password may be stored in clear text.", "high"),
            ("There is no limit and users may export all.", "low"),
            ("If the mail cannot be sent, it should be kept.", "medium"),
            ("When the mail cannot be sent, it is kept.", None),
            ("The export may be slow.", "low"),
        ],
    )
    def test_what_may_not_be_is_as_strict_as_what_must_be(self, said: str, priority: str | None) -> None:
        (numbered,) = found(f"REQ-1: {said}")["objects"]
        (row,) = found(f"| ID | Requirement |\n|---|---|\n| REQ-1 | {said} |")["objects"]
        assert (numbered.get("priority"), row.get("priority")) == (priority, priority)

    def test_nor_does_it_need_a_number(self) -> None:
        text = "Sessions may not last longer than a day. Users cannot see the data of others."
        assert [each["priority"] for each in found(text, headings=("Requirements",))["objects"]] == [
            "high",
            "high",
        ]

    def test_what_cannot_be_done_is_no_demand_of_a_bug(self) -> None:
        assert names("BUG-7: The page cannot be opened twice.") == []

    def test_a_table(self) -> None:
        text = (
            "| ID | Requirement | Priority | Owner |\n|---|---|---|---|\n"
            "| SEC-1 | Traffic must be encrypted | Medium | Jane Doe |"
        )
        assert found(text) == {
            "objects": [
                {
                    "type": "Requirement",
                    "priority": "Medium",
                    "name": "SEC-1",
                    "description": "Traffic must be encrypted",
                    "owner": "Jane Doe",
                },
                {"type": "Person", "name": "Jane Doe"},
            ],
            "relationships": [{"type": "owns", "source": "Jane Doe", "target": "SEC-1"}],
        }

    @pytest.mark.parametrize(
        "text",
        [
            "| variable | default | meaning |\n|---|---|---|\n| `PORT` | 80 | the port |",
            "| ID | Amount |\n|---|---|\n| A-1 | 5 |",
            "| Name | Size |\n|---|---|\n| Jane Doe | 5 |",
        ],
    )
    def test_other_tables_say_nothing(self, text: str) -> None:
        assert names(text) == []


class TestContracts:
    DUTY = "2.1 The Supplier shall deliver the report within 7 days."

    @pytest.mark.parametrize(
        ("said", "party"),
        [
            ('Blue Anchor GmbH, a company registered in Germany (the "Supplier")', "Organization"),
            ('Blue Anchor GmbH (hereinafter "Supplier")', "Organization"),
            ("**Global Anchors, Inc.** (hereinafter referred to as the **“Supplier”**)", "Organization"),
            ('Martin Keller, residing in Bern (the "Supplier")', "Person"),
            ('Juliet Okafor, trading as Okafor Advisory ("Supplier")', "Person"),
            ('Juliet Okafor d/b/a Okafor Advisory (the "Supplier")', "Person"),
            ('Okafor Advisory ("Supplier")', "Organization"),
        ],
    )
    def test_who_the_parties_are(self, said: str, party: str) -> None:
        assert [type_ for type_, _ in names(f"Between {said} and others.\n\n{self.DUTY}")] == [
            party,
            "Concept",
            "Requirement",
        ]

    def test_the_chunk_before_says_who_a_party_is(self) -> None:
        assert names(self.DUTY) == []
        (duty,) = found(self.DUTY, beside=['Between Blue Anchor GmbH (the "Supplier") and others.'])[
            "objects"
        ]
        assert (duty["type"], duty["owner"]) == ("Requirement", "Supplier")

    def test_so_does_a_term_that_is_known_however_far_away_it_was_explained(self) -> None:
        def term(meaning: str) -> KnownObject:
            return KnownObject(
                id=UUID(int=9),
                type="Concept",
                name="Supplier",
                name_key=name_key("Supplier"),
                properties={"description": meaning},
            )

        assert [type_ for type_, _ in names(self.DUTY, known=[term("Blue Anchor GmbH")])] == ["Requirement"]
        assert names(self.DUTY, known=[term("who supplies something")]) == []

    def test_any_party_has_duties(self) -> None:
        (duty,) = found("4.2 Either party may terminate this Agreement upon notice.")["objects"]
        assert (duty["priority"], "owner" in duty) == ("low", False)

    @pytest.mark.parametrize(
        "said", ["Either party may not", "Neither party may", "Neither party shall", "Each party cannot"]
    )
    def test_what_they_may_not_do_is_a_duty(self, said: str) -> None:
        (duty,) = found(f"4.2 {said} assign this Agreement.")["objects"]
        assert duty["priority"] == "high"

    def test_what_a_party_is_called_is_no_role(self) -> None:
        text = 'Between Juliet Okafor, trading as Okafor Advisory ("Consultant") and others.'
        person, term = found(text)["objects"]
        assert person == {"type": "Person", "name": "Juliet Okafor"}
        assert (term["name"], term["description"]) == ("Consultant", "Juliet Okafor")

    def test_terms_in_a_list(self) -> None:
        text = '(a) "Affiliate" means any entity;\n(b) "Purpose" shall mean a joint venture.'
        assert names(text) == [("Concept", "Affiliate"), ("Concept", "Purpose")]


class TestMinutes:
    @pytest.mark.parametrize(
        ("text", "name", "owner", "due"),
        [
            ("Action: Anna to send the draft by Friday", "Anna to send the draft by Friday", "Anna", None),
            ("- [ ] Bob: update the page (due 2024-06-30)", "Bob: update the page", "Bob", "2024-06-30"),
            ("ACTION ITEMS\n- Carla will call the bank", "Carla will call the bank", "Carla", None),
            ("Action items:\n\n- Call the bank (Carla)", "Call the bank (Carla)", "Carla", None),
            ("## To do\n\n- @Dan: write the tests", "Dan: write the tests", "Dan", None),
            ("AI-7 Eve to ask by 28 March 2025.", "AI-7", "Eve", "28 March 2025"),
        ],
    )
    def test_tasks(self, text: str, name: str, owner: str, due: str | None) -> None:
        (task,) = found(text)["objects"]
        assert (task["name"], task["owner"], task.get("due")) == (name, owner, due)

    def test_a_task_is_one_where_the_schema_has_such_a_type(self) -> None:
        schema = read_schema({"object_types": {"Task": {}, "Requirement": {}}})
        context = ExtractionContext(primary=ChunkText(id=UUID(int=1), text="Action: Anna to call Bob"))
        assert [each["type"] for each in propose(schema, context)["objects"]] == ["Task"]

    def test_who_is_called_by_a_first_name_is_the_one_who_was_there(self) -> None:
        text = "Attendees: Tom Baker, Priya Patel\n\nAction: Tom to call the bank"
        assert links(text) == [("owns", "Tom Baker", "Tom to call the bank")]
        assert links(f"Attendees: Tom Jones, Jane Doe\n{text}") == []

    @pytest.mark.parametrize(
        "text",
        [
            "- [ ] Need to think",
            "- [x] Audit log",
            "- [ ] Docs: write the tutorial",
            "## Next steps\n\n- Read the tutorial for beginners\n- Community: join the chat",
            "Ready to go.",
            "Time to act: now",
        ],
    )
    def test_what_is_no_task(self, text: str) -> None:
        assert names(text) == []

    def test_minutes_are_told_apart_by_the_date_below_their_title(self) -> None:
        text = "Minutes of the Board\nDate: 14 March 2025\nPresent: Dr. Ann Lee (Chair), Bob Kay (IT)"
        event, ann, bob = found(text)["objects"]
        assert (event["name"], event["date"]) == ("Minutes of the Board, 14 March 2025", "14 March 2025")
        assert (ann["role"], "role" in bob) == ("Chair", False)
        assert len(links(text)) == 2

    @pytest.mark.parametrize(
        "line",
        ["Tuesday 4 November 2025, 10:00–10:45, room Ostsee", "4 November 2025", "Tuesday, 4 November 2025"],
    )
    def test_the_date_may_stand_on_a_line_of_its_own(self, line: str) -> None:
        event, *_ = found(f"# Weekly sync, platform group\n\n{line}\n\nPresent: Ann Lee, Bob Kay")["objects"]
        assert (event["name"], event["date"]) == (
            "Weekly sync, platform group, 4 November 2025",
            "4 November 2025",
        )
        assert len(links(f"# Weekly sync\n\n{line}\n\nPresent: Ann Lee, Bob Kay")) == 2

    @pytest.mark.parametrize(
        "text",
        [
            "# Weekly sync\n\n4 November 2025 was a Tuesday.",
            "# Weekly sync\n\nAll went well.\n\n4 November 2025",
            "# Harbour\n\n4 November 2025",
        ],
    )
    def test_other_dates_are_of_no_event(self, text: str) -> None:
        assert names(text) == []

    def test_one_unknown_among_those_present_hides_nobody(self) -> None:
        text = "Attendees: Maria Lopes (remote), Aiko (from 10:30), Dr. Heinz Vogel (CTO, Acme), two guests"
        assert found(text)["objects"] == [
            {"type": "Person", "name": "Maria Lopes"},
            {"type": "Person", "name": "Aiko"},
            {"type": "Person", "name": "Heinz Vogel", "role": "CTO, Acme"},
        ]
        assert names("Present: Jane Doe, in all its glory, the past") == []
        assert names("Owner: Jane Doe, two guests") == []

    def test_who_does_what(self) -> None:
        row = "|---|---|---|\n| Tom | Write the report | 7 Nov |\n| all | read the guidelines | – |"
        tasks = found(f"| Who | What | By |\n{row}")["objects"]
        assert [(each["name"], each["owner"], each.get("due")) for each in tasks] == [
            ("Write the report (Tom)", "Tom", "7 Nov"),
            ("read the guidelines (all)", "all", None),
        ]
        assert names(f"## Actions\n\n| Who | What | When |\n{row}") == names(f"| Who | What | By |\n{row}")
        assert names(f"| Who | What | When |\n{row}") == []

    def test_people_in_a_list_below_a_title(self) -> None:
        text = "# Kick-off meeting, 3 June 2025\n\n**Participants**\n- Ida Sol, project lead\n- Wei Zhang"
        assert names(text)[1:] == [("Person", "Ida Sol"), ("Person", "Wei Zhang")]
        assert [type_ for type_, _, _ in links(text)] == ["takes_part_in", "takes_part_in"]

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("It was decided to select Workday.", "select Workday"),
            ("The go-live is in May. Decision: pilot in Oslo first.", "pilot in Oslo first"),
            ("The committee approved the budget.", "approved the budget"),
            ("## Decisions\n\n- Freeze the schema until June", "Freeze the schema until June"),
            ("Three were considered: A, B and C. It was agreed that C wins.", "C wins"),
        ],
    )
    def test_decisions(self, text: str, name: str) -> None:
        assert names(text) == [("Decision", name)]

    @pytest.mark.parametrize(
        "item",
        [
            "No decision was taken on Kafka.",
            "(postponed) New logo",
            "[Open] The new logo",
            "**Deferred** to the next meeting",
            "None so far, sadly",
            "Open – the new logo",
            "No clear agreement on the logo",
        ],
    )
    def test_what_was_not_decided(self, item: str) -> None:
        assert names(f"## Decisions\n\n- {item}") == []

    @pytest.mark.parametrize("item", ["Open the shop on Sundays", "No new features before June"])
    def test_what_only_begins_like_it(self, item: str) -> None:
        assert names(f"## Decisions\n\n- {item}") == [("Decision", item)]

    @pytest.mark.parametrize("said", ["We agreed to burn it.", "we agreed to meet on Friday."])
    def test_few_words_decide_something_in_minutes_only(self, said: str) -> None:
        assert names(f"A letter came. {said}") == []
        assert names(said, headings=("The Harbour",)) == []
        assert [type_ for type_, _ in names(said, headings=("Minutes of the Board",))] == ["Decision"]

    def test_a_name_is_enough_for_a_decision(self) -> None:
        assert names("We decided to use Kafka.")[0] == ("Decision", "use Kafka")

    def test_what_is_bold_in_part_can_still_be_quoted(self) -> None:
        text = "## Decisions\n\n- **Kestrel** reads what is not plain text."
        assert names(text) == [("Decision", "**Kestrel** reads what is not plain text")]

    def test_a_reason_may_follow(self) -> None:
        (decision,) = found("It was decided to select Workday. Rationale: lowest cost.")["objects"]
        assert decision["rationale"] == "lowest cost."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The Session Service stores sessions in Redis and depends on the Token Service.",
            [("uses", "Session Service", "Redis"), ("depends_on", "Session Service", "Token Service")],
        ),
        (
            "The Worker Pool reads from the Transfer Queue and writes to Amazon S3.",
            [("uses", "Worker Pool", "Transfer Queue"), ("uses", "Worker Pool", "Amazon S3")],
        ),
        (
            "Erik Larsson is responsible for the Inventory Service.",
            [("owns", "Erik Larsson", "Inventory Service")],
        ),
        (
            "The Stock System (STS) is an application. The STS is used by Nordic Freight AB.",
            [("uses", "Nordic Freight AB", "Stock System")],
        ),
        ("The Order Service fails when all is down and uses Redis.", []),
        ("The Sales Manager is responsible for the Order Service.", []),
    ],
)
def test_more_verbs(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert links(text) == expected
