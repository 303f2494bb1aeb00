"""Whole documents of the four kinds that the rules are for: what they find in them, and nothing else."""

from uuid import UUID

import pytest

from whence.extract import (
    DEFAULT_SCHEMA,
    ChunkText,
    ExtractionContext,
    Outcome,
    merge,
    proposals,
    propose,
)

REQUIREMENTS = """\
# Ticket Shop: requirements

Ticket Shop is a web platform for selling concert tickets. It is operated by Nordlicht Events GmbH.

## 1. Ordering

REQ-1: The Order Service shall depend on the Payment Gateway for every charge. Priority: low. Owner: Jane Doe.
REQ-2: Orders must be confirmed by e-mail within 2 minutes. Status: draft
REQ-3 The Seat Cache should be refreshed every 30 seconds.

- Priority: high
- Depends on: REQ-1, REQ-2

## 2. Operation

NFR-1: The Payment Gateway must be available 99.9 % of the time. It is owned by Martin Keller.
REQ-4 supersedes REQ-2. The Seat Cache is part of the Order Service. The Order Service must use the Mail Queue and the Seat Cache.
REQ-2 is implemented by the Order Service.
"""

CONTRACT = """\
# Master Services Agreement

This Agreement is made on 3 March 2025 between Harbour Logistics Ltd ("Customer") and Blue Anchor Software GmbH (the "Supplier").

## 1. Definitions

"Confidential Information" means any information that a party discloses in confidence.
"Services" means the services described in Schedule 1.
The term "Business Day" refers to a day on which banks in Hamburg are open.

## 2. Parties

Harbour Logistics Ltd is a company based in Bremen. Blue Anchor Software GmbH is located in Hamburg. Blue Anchor Software GmbH is a subsidiary of Anchor Holding AG.
Dr. Eva Brandt works for Harbour Logistics Ltd. Tom Weber (CTO) works for Blue Anchor Software GmbH and reports to Lena Vogt.

## 3. Obligations

3.1 The Supplier shall deliver the Services with reasonable care.
3.2 The Customer must pay every invoice within 30 days. Late payment bears interest.

## 4. Governing law

Governing Law: Germany
This Agreement supersedes the Letter of Intent.
"""

README = """\
# Kestrel

Kestrel is a message gateway for sensors. It depends on PostgreSQL and uses Redis for caching.

Version: 2.4
License: MIT

## Architecture

The Ingest Worker reads from the Event Queue. The Rule Engine uses the Alert Service, the Ingest Worker and the Metrics Store.
The Alert Service depends on Twilio. `kestrel-cli` is a command line tool that talks to the Admin API.
Kestrel replaces Osprey.

## Installation

Run `pip install kestrel`. Note: Python 3.11 is required.

```
REQ-1: this is code and must not be read
```

## Maintainers

- Priya Raman (lead maintainer)
- Jonas Lind
Kestrel is maintained by Priya Raman.
"""

NOTES = """\
# Weekly review meeting, 12 May 2025

Attendees: Anna Berg (CTO), John Smith, Mary Major
Location: Room 4
Chair: Anna Berg

## Notes

John Smith (product manager) works for Acme Payments Inc. Mary Major reports to Anna Berg. The new office is located in Oslo.
Mary said the demo went well. Everybody was happy with it.

Decision: we keep PostgreSQL because it is transactional.
We agreed to drop the PDF exporter.
The team decided that the Export Service is replaced by the Report Service.

## Action items

- [ ] John Smith: write to the supplier until Friday
- Mary Major to prepare the budget.
- AI-1: Anna Berg must call the bank. Due: 2025-05-20

Next meeting: 19 May 2025
"""

OBJECTS_OF_REQUIREMENTS = {
    "Component": {"Mail Queue", "Order Service", "Payment Gateway", "Seat Cache"},
    "Organization": {"Nordlicht Events GmbH"},
    "Person": {"Jane Doe", "Martin Keller"},
    "Requirement": {
        "NFR-1",
        "REQ-1",
        "REQ-2",
        "REQ-3",
        "REQ-4",
        "The Order Service must use the Mail Queue and the Seat Cache",
    },
    "System": {"Ticket Shop"},
}
LINKS_OF_REQUIREMENTS = {
    ("depends_on", "Order Service", "Payment Gateway"),
    ("depends_on", "REQ-3", "REQ-1"),
    ("depends_on", "REQ-3", "REQ-2"),
    ("owns", "Jane Doe", "REQ-1"),
    ("owns", "Martin Keller", "Payment Gateway"),
    ("owns", "Nordlicht Events GmbH", "Ticket Shop"),
    ("part_of", "Seat Cache", "Order Service"),
    ("replaces", "REQ-4", "REQ-2"),
    ("satisfies", "Order Service", "REQ-2"),
    ("uses", "Order Service", "Mail Queue"),
    ("uses", "Order Service", "Seat Cache"),
}

OBJECTS_OF_CONTRACT = {
    "Concept": {"Business Day", "Confidential Information", "Customer", "Services", "Supplier"},
    "Organization": {"Anchor Holding AG", "Blue Anchor Software GmbH", "Harbour Logistics Ltd"},
    "Person": {"Eva Brandt", "Lena Vogt", "Tom Weber"},
    "Place": {"Bremen", "Hamburg"},
    "Requirement": {
        "The Customer must pay every invoice within 30 days",
        "The Supplier shall deliver the Services with reasonable care",
    },
}
LINKS_OF_CONTRACT = {
    ("located_in", "Blue Anchor Software GmbH", "Hamburg"),
    ("located_in", "Harbour Logistics Ltd", "Bremen"),
    ("part_of", "Blue Anchor Software GmbH", "Anchor Holding AG"),
    ("reports_to", "Tom Weber", "Lena Vogt"),
    ("works_for", "Eva Brandt", "Harbour Logistics Ltd"),
    ("works_for", "Tom Weber", "Blue Anchor Software GmbH"),
}

OBJECTS_OF_README = {
    "Component": {
        "Admin API",
        "Alert Service",
        "Event Queue",
        "Ingest Worker",
        "Kestrel",
        "Metrics Store",
        "Osprey",
        "PostgreSQL",
        "Redis",
        "Rule Engine",
        "Twilio",
    },
    "Person": {"Priya Raman"},
    "System": {"kestrel-cli"},
}
LINKS_OF_README = {
    ("depends_on", "Alert Service", "Twilio"),
    ("depends_on", "Kestrel", "PostgreSQL"),
    ("owns", "Priya Raman", "Kestrel"),
    ("replaces", "Kestrel", "Osprey"),
    ("uses", "Ingest Worker", "Event Queue"),
    ("uses", "Kestrel", "Redis"),
    ("uses", "Rule Engine", "Alert Service"),
    ("uses", "Rule Engine", "Ingest Worker"),
    ("uses", "Rule Engine", "Metrics Store"),
    ("uses", "kestrel-cli", "Admin API"),
}

OBJECTS_OF_NOTES = {
    "Component": {"Export Service", "Report Service"},
    "Decision": {
        "drop the PDF exporter",
        "the Export Service is replaced by the Report Service",
        "we keep PostgreSQL",
    },
    "Event": {"Weekly review meeting, 12 May 2025"},
    "Organization": {"Acme Payments Inc"},
    "Person": {"Anna Berg", "John Smith", "Mary Major"},
    "Requirement": {
        "AI-1",
        "John Smith: write to the supplier until Friday",
        "Mary Major to prepare the budget",
    },
}
LINKS_OF_NOTES = {
    ("owns", "Anna Berg", "AI-1"),
    ("owns", "John Smith", "John Smith: write to the supplier until Friday"),
    ("owns", "Mary Major", "Mary Major to prepare the budget"),
    ("replaces", "Report Service", "Export Service"),
    ("reports_to", "Mary Major", "Anna Berg"),
    ("takes_part_in", "Anna Berg", "Weekly review meeting, 12 May 2025"),
    ("takes_part_in", "John Smith", "Weekly review meeting, 12 May 2025"),
    ("takes_part_in", "Mary Major", "Weekly review meeting, 12 May 2025"),
    ("works_for", "John Smith", "Acme Payments Inc"),
}


def outcome(text: str) -> Outcome:
    primary = ChunkText(id=UUID(int=1), text=text)
    reply = proposals(propose(DEFAULT_SCHEMA, ExtractionContext(primary=primary)))
    return merge(schema=DEFAULT_SCHEMA, known=(), primary=primary, context=(), reply=reply, blind=True)


def named(found: Outcome) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    for each in found.objects:
        names.setdefault(each.type, set()).add(each.name)
    return names


def linked(found: Outcome) -> set[tuple[str, str, str]]:
    names = {each.ref: each.name for each in found.objects}
    return {
        (each.type, names[each.source], names[each.target])  # type: ignore[index]
        for each in found.relationships
    }


@pytest.mark.parametrize(
    ("text", "objects", "links"),
    [
        pytest.param(REQUIREMENTS, OBJECTS_OF_REQUIREMENTS, LINKS_OF_REQUIREMENTS, id="requirements"),
        pytest.param(CONTRACT, OBJECTS_OF_CONTRACT, LINKS_OF_CONTRACT, id="contract"),
        pytest.param(README, OBJECTS_OF_README, LINKS_OF_README, id="readme"),
        pytest.param(NOTES, OBJECTS_OF_NOTES, LINKS_OF_NOTES, id="notes"),
    ],
)
def test_a_document_gives_what_it_says_and_no_more(
    text: str, objects: dict[str, set[str]], links: set[tuple[str, str, str]]
) -> None:
    found = outcome(text)
    assert named(found) == objects
    assert linked(found) == links
    assert found.rejections == ()
    # Whatever is not in the words of the text is what must, should or may stand for.
    assert {each.property for each in found.claims if each.span is None} <= {"priority"}


def test_what_is_told_of_them() -> None:
    properties = {
        each.name: each.properties
        for text in (REQUIREMENTS, CONTRACT, README, NOTES)
        for each in outcome(text).objects
    }
    assert properties["REQ-1"] == {
        "description": "The Order Service shall depend on the Payment Gateway for every charge.",
        "priority": "low",
        "owner": "Jane Doe",
    }
    assert properties["REQ-2"]["status"] == "draft"
    assert properties["REQ-3"]["priority"] == "high"
    assert properties["The Customer must pay every invoice within 30 days"]["owner"] == "Customer"
    assert properties["Kestrel"] == {"description": "a message gateway for sensors.", "version": "2.4"}
    assert properties["Weekly review meeting, 12 May 2025"] == {"date": "2025-05-12", "location": "Room 4"}
    assert properties["AI-1"]["due"] == "2025-05-20"
    assert properties["Tom Weber"] == {"role": "CTO"}
