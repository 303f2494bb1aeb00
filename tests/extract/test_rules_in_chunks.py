"""What the rules know of a chunk from the rest of its document: the headings above it, and who the parties are."""

from tests.extract.test_histories import CUT
from tests.extracting import rows
from tests.ingest.conftest import Desk

from whence.types import DEFAULT_PROJECT_ID as PROJECT

CONTRACT = """\
# Services

This Agreement is between Northwind Traders Ltd (the "Client") and Blue Anchor GmbH, a company registered in Germany (the "Supplier").

""" + "\n\n".join(
    f"## Delivery {number}\n\nThe Supplier shall deliver report {number} within {number + 5} days. "
    f"The Client shall pay the fee for report {number} in full."
    for number in range(1, 13)
)

README = """\
# turbine

turbine is a job queue written in Go, and nothing else.

## Components

### Dispatcher

The Dispatcher assigns jobs to workers. It depends on the Scheduler.

### Scheduler

The Scheduler reads cron expressions from a file of its own.

### Web UI

Shows what is going on, and what went wrong before that.
"""


async def extracted(desk: Desk, dsn: str, text: str) -> list[tuple[str, str]]:
    receipt = await desk.hand_in(text, name="text.md", chunking=CUT)
    await desk.run(receipt)
    document = await desk.app.store.documents.get(receipt.document_id)
    job = await desk.app.orders.document(document, scope="stale")
    await desk.app.extraction.run(PROJECT, job.id)
    assert (await desk.app.store.jobs.get(job.id)).status == "completed"
    return rows(dsn, "SELECT type, name FROM kb.graph_objects ORDER BY type, name")


async def test_parties_are_known_throughout_a_contract(desk: Desk, dsn: str) -> None:
    found = await extracted(desk, dsn, CONTRACT)
    assert [name for type_, name in found if type_ == "Organization"] == [
        "Blue Anchor GmbH",
        "Northwind Traders Ltd",
    ]
    duties = [name for type_, name in found if type_ == "Requirement"]
    assert len([name for name in duties if name.startswith("The Supplier shall deliver")]) == 12
    assert len([name for name in duties if name.startswith("The Client shall pay")]) == 12


async def test_parts_are_known_by_the_heading_above_theirs(desk: Desk, dsn: str) -> None:
    assert await extracted(desk, dsn, README) == [
        ("Component", "Dispatcher"),
        ("Component", "Scheduler"),
        ("Component", "Web UI"),
        ("Component", "turbine"),
    ]
    assert rows(dsn, "SELECT type FROM kb.relationships") == [("depends_on",)]
