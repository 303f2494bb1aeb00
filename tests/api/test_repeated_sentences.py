"""Two documents: what the second repeats outlives the first, and what it only seems to say does not."""

from typing import Any

import httpx
import pytest
from tests.api.ingesting import DOCUMENTS, data_of
from tests.chat_endpoint import ChatEndpoint
from tests.extracting import SHARED, extract, graph, ingest_parts, put_schema, replies, rows, scripted
from tests.graphs import require_sound

from whence.models import DEFAULT_PROJECT_ID

model, settings = scripted()
pytestmark = SHARED

CONFIRMED = "SELECT property_name, quote FROM kb.object_provenance WHERE operation = 'confirmed'"


async def read_both(client: httpx.AsyncClient, model: ChatEndpoint, *texts: str, **said: Any) -> list[str]:
    """Reads the texts as documents. The model speaks only of the first."""
    await put_schema(client, DEFAULT_PROJECT_ID, [], Thing={})
    model.default = replies(lambda _, known: {"objects": [] if known else [{"type": "Thing", **said}]})
    documents = [await ingest_parts(client, text, name=f"{n}.md") for n, text in enumerate(texts)]
    for document_id in documents:
        await extract(client, document_id)
    return documents


@pytest.mark.parametrize(
    ("sentence", "value", "quote"),
    [
        ("Lake Mora has 4 islands.", 4, "4"),
        ("Lake Mora lies 14 km west.", "14", "14"),
        ("In winter Lake Mora is closed to boats.", "closed", "closed"),
        ("The water of Lake Mora is dark green.", "dark green", "dark green"),
        ("Lake Mora has pike, perch and eels.", ["pike", "perch", "eels"], "pike, perch and eels"),
        ("The grade of Lake Mora is A.", "A", "A"),
    ],
)
async def test_a_repeated_sentence_confirms_every_value_that_was_claimed_from_it(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, *, sentence: str, value: Any, quote: str
) -> None:
    copy = "A copy. " + sentence.replace(" ", "  ").replace("The", "THE")
    first, _ = await read_both(by_hand, model, sentence, copy, name="Lake Mora", x=value)
    assert dict(rows(dsn, CONFIRMED)) == {"name": "Lake  Mora", "x": quote.replace(" ", "  ")}
    impact = data_of(await by_hand.get(f"{DOCUMENTS}/{first}/deletion-impact"))
    assert (impact["objects"], impact["graph"]["properties"]) == (0, [])
    data_of(await by_hand.delete(f"{DOCUMENTS}/{first}"))
    assert graph(dsn) == {"Thing Lake Mora": {"x": value}}
    require_sound(dsn)


COPIED: list[tuple[str, str, dict[str, Any]]] = [
    ("Elbbrücke", "Die Elbbrücke wurde 1912 eröffnet.", {"jahr": "1912"}),
    ("Vertrag", "Der Vertrag endet am 31. Dezember 2027. Er ist bindend.", {"ende": "31. Dezember 2027"}),
    ("Seine", "La Seine mesure 777 km.", {"longueur": "777 km"}),
    ("Prado", "El Prado tiene 8000 obras.", {"obras": "8000"}),
    ("Lena Fisk", "CEO Lena Fisk earns 90,000 euros.", {"pay": "90,000 euros"}),
    ("REQ-1", "See REQ-1 for the limit of 30 seconds.", {"limit": "30 seconds"}),
    ("Orbitech", "On Monday Orbitech sold 40 drones.", {"drones": "40"}),
    ("Orbitech", "Orbitech CEO Lena Fisk resigned.", {"ceo": "Lena Fisk"}),
    ("Orbitech", "Orbitech API keys expire after 30 days.", {"expiry": "30 days"}),
    ("Heron", "Unless Heron fails, its 64 GB of memory suffice.", {"memory": "64 GB"}),
    ("Heron", "Name: Heron\nMemory: 64 GB\nState: idle", {"memory": "64 GB", "state": "idle"}),
    ("Heron", "# Heron\n\nMemory: 64 GB\nOwner: Ann Bell", {"memory": "64 GB", "owner": "Ann Bell"}),
    (
        "Heron",
        "Heron is idle, said Ann. Its colour is red and its site is Bonn.",
        {"colour": "red", "site": "Bonn"},
    ),
    ("Kestrel", "server,memory\nHeron,64 GB\nKestrel,32 GB", {"memory": "32 GB"}),
    ("HERON", "NOTICE\n\nHERON WILL BE DOWN ON 3 MAY 2026.", {"down": "3 MAY 2026"}),
    ("Joe Pell", "From: Ann Bell\nTo: Joe Pell\nSubject: Heron\n\nIt is down.", {}),
    ("Leave", "Leave is paid. Leave must be requested two weeks ahead.", {"notice": "two weeks"}),
]


@pytest.mark.parametrize(("name", "text", "said"), COPIED)
async def test_a_copy_keeps_all_that_was_claimed_from_the_first(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, *, name: str, text: str, said: dict[str, Any]
) -> None:
    first, _ = await read_both(by_hand, model, text, f"{text}\n\nA copy.", name=name, **said)
    data_of(await by_hand.delete(f"{DOCUMENTS}/{first}"))
    assert graph(dsn) == {f"Thing {name}": said}
    require_sound(dsn)


async def test_it_confirms_them_when_it_was_read_before(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await put_schema(by_hand, DEFAULT_PROJECT_ID, [], Thing={})
    said = {"type": "Thing", "name": "Lake Mora", "state": "closed"}
    model.default = replies(lambda text, _: {"objects": [said] if "Later" in text else []})
    await extract(by_hand, await ingest_parts(by_hand, "Lake Mora is closed."))
    later = await ingest_parts(by_hand, "Later text. Lake Mora is closed.")
    await extract(by_hand, later)
    data_of(await by_hand.delete(f"{DOCUMENTS}/{later}"))
    assert graph(dsn) == {"Thing Lake Mora": {"state": "closed"}}
    require_sound(dsn)


@pytest.mark.parametrize(
    "text",
    [
        "Lake Sunna is large. It has 4 islands.",
        "Lake Mora is large. Lake Sunna is larger. It has 4 islands.",
        "Lake Mora is large. Nobody believes that it has 4 islands.",
        "Lake Mora is large. Is it true that it has 4 islands?",
    ],
)
async def test_a_sentence_about_another_object_repeats_nothing(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, text: str
) -> None:
    await read_both(
        by_hand, model, "Lake Mora is large. It has 4 islands.", text, name="Lake Mora", islands=4
    )
    assert "islands" not in dict(rows(dsn, CONFIRMED))


YORK = {"name": "York", "inhabitants": 210_000}
STEEL = {"name": "Harrow Steel", "employees": "412"}
HERON = {"name": "Heron", "memory": "64 GB"}


@pytest.mark.parametrize(
    ("said", "text", "is_confirmed"),
    [
        (YORK, "New York has 210,000 inhabitants.", False),
        (YORK, "York City has 210,000 inhabitants.", False),
        (YORK, "If York had 210,000 inhabitants, it would need a tram.", False),
        (YORK, "It is a myth that York has 210,000 inhabitants.", False),
        (YORK, "Nobody believes that York has 210,000 inhabitants.", False),
        (YORK, "York lost 210,000 inhabitants.", False),
        (YORK, "Its 210,000 inhabitants love York.", False),
        (YORK, "York, a town in the north, has 210,000 inhabitants.", True),
        (YORK, "With its 210,000 inhabitants, York is a large town.", True),
        (YORK, "# York\n\n- Inhabitants: 210,000", True),
        (STEEL, "Harrow Steel Works employs 412 people.", False),
        (STEEL, "A rival of Harrow Steel employs 412 people.", False),
        (STEEL, "Harrow Steel sacked 412 people.", False),
        (STEEL, "Harrow Steel sacked 412.", False),
        (STEEL, "Harrow Steel Ltd employs 412 people.", True),
        (STEEL, "Harrow Steel has 412 employees.", True),
        (HERON, "Heron lacks 64 GB of memory.", False),
        (HERON, "Heron may have 64 GB of memory.", False),
        (HERON, "Heron used to have 64 GB of memory.", False),
        (HERON, "Heron, a server in Bonn, has 64 GB of memory.", True),
        (HERON, "Heron comes with 64 GB RAM.", True),
        (HERON, "Heron 2 has 64 GB of memory.", False),
        (HERON, "Heron-X has 64 GB of memory.", False),
        (HERON, "Heron's backup has 64 GB of memory.", False),
        (HERON, "Heron's memory has 64 GB.", True),
        (HERON, "Kestrel, unlike Heron, has 64 GB of memory.", False),
        (HERON, "False: Heron has 64 GB of memory.", False),
        (YORK, "York had 210,000 inhabitants in 1950.", False),
        (YORK, "The Duke of York has 210,000 inhabitants.", False),
    ],
)
async def test_a_value_in_another_sentence_is_confirmed_only_if_it_states_the_same(
    by_hand: httpx.AsyncClient,
    model: ChatEndpoint,
    dsn: str,
    said: dict[str, Any],
    text: str,
    *,
    is_confirmed: bool,
) -> None:
    first = {
        "York": "York has 210,000 inhabitants.",
        "Harrow Steel": "Harrow Steel employs 412 people.",
        "Heron": "Heron has 64 GB of memory.",
    }
    await read_both(by_hand, model, first[said["name"]], text, **said)
    (name,) = said.keys() - {"name"}
    assert (name in dict(rows(dsn, CONFIRMED))) is is_confirmed


@pytest.mark.parametrize(
    ("name", "text", "is_named"),
    [
        ("York", "New York is large.", False),
        ("York", "The Duke of York came.", False),
        ("York", "Most of York slept.", True),
        ("Heron", "The Heron 2 is new.", False),
        ("Heron", "The Heron-X is new.", False),
        ("Heron", "In 2019 Heron 55 kW were free.", True),
        ("東京", "東京大学は大きい。", False),
        ("東京", "東京は大きい。", True),
    ],
)
async def test_a_name_inside_a_longer_name_is_no_source(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, name: str, text: str, *, is_named: bool
) -> None:
    await read_both(by_hand, model, f"{name} is old.", text, name=name)
    assert rows(dsn, CONFIRMED) == ([("name", name)] if is_named else [])


@pytest.mark.parametrize("before", ["", "A copy.\n\n"])
async def test_a_copy_keeps_values_that_have_no_quote(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str, before: str
) -> None:
    text, said = "Heron went live. It is in use.", {"active": True, "state": "productive"}
    first, _ = await read_both(by_hand, model, text, f"{before}{text}", name="Heron", **said)
    assert dict(rows(dsn, CONFIRMED)) == {"name": "Heron", "active": None, "state": None}
    impact = data_of(await by_hand.get(f"{DOCUMENTS}/{first}/deletion-impact"))
    assert (impact["objects"], impact["graph"]["properties"]) == (0, [])
    data_of(await by_hand.delete(f"{DOCUMENTS}/{first}"))
    assert graph(dsn) == {"Thing Heron": said}
    require_sound(dsn)


async def test_a_part_of_the_text_keeps_no_value_without_a_quote(
    by_hand: httpx.AsyncClient, model: ChatEndpoint, dsn: str
) -> None:
    await read_both(
        by_hand, model, "Heron went live. It is in use.", "Heron went live.", name="Heron", active=True
    )
    assert dict(rows(dsn, CONFIRMED)) == {"name": "Heron"}
