"""The order of claims and the union of lists, compared with a model of both in Python."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.graphs import require_sound, say, thing
from tests.samples import AddSample, Sample

from whence.extract.values import accumulate
from whence.models import DEFAULT_PROJECT_ID as PROJECT
from whence.store import Store

WORDS = ("harbour", "Harbour", "lighthouse", "museum", 1, 2.5, True)
START = datetime(2020, 1, 1, tzinfo=UTC)


def expected(said: dict[tuple[datetime, UUID, int], dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in sorted(said):
        for name, value in said[key].items():
            before = found.get(name)
            found[name] = accumulate(before or [], value) if isinstance(value, list) else value
    return found


@pytest.mark.parametrize("seed", range(6))
async def test_random_histories(store: Store, add_sample: AddSample, dsn: str, seed: int) -> None:
    chance = random.Random(seed)
    samples: list[Sample] = [await add_sample(chunks=3) for _ in range(3)]
    dates = {sample.document.id: sample.document.created_at for sample in samples}
    said: dict[tuple[UUID, int], dict[str, Any]] = {}
    ident: UUID | None = None
    for _ in range(12):
        sample = chance.choice(samples)
        if chance.random() < 0.3:
            dates[sample.document.id] = START + timedelta(days=chance.randrange(5))
            metadata = {"validFrom": dates[sample.document.id].isoformat()}
            await store.documents.describe(PROJECT, sample.document.id, metadata)
        else:
            chunk = chance.choice(sample.chunks)
            claim: dict[str, Any] = {"tags": chance.sample(WORDS, 2), "power": chance.randrange(100)}
            said[sample.document.id, chunk.chunk_index] = claim
            (ident,) = (await say(store, chunk, thing("Pump", **claim))).objects
        if ident is not None:
            told = {(dates[of], of, index): claim for (of, index), claim in said.items()}
            assert (await store.graph.objects.get(ident)).properties == expected(told)
            current = await store.graph.provenance.current(PROJECT, [ident])
            newest = said[max(told)[1:]]
            assert [one.value for one in current if one.property_name == "power"] == [newest["power"]]
            assert [one.value for one in current if one.property_name == "tags"] == [
                told[key]["tags"] for key in sorted(told, reverse=True)
            ]
    require_sound(dsn)


async def test_a_grounded_claim_comes_before_a_newer_ungrounded_one(
    store: Store, add_sample: AddSample
) -> None:
    chunks = (await add_sample(chunks=2)).chunks
    first, second = thing("Pump", power="40 kW", tags=["old"]), thing("Pump", power="55 kW", tags=["new"])
    properties = {name: replace(value, is_grounded=False) for name, value in second.properties.items()}
    (ident,) = (await say(store, chunks[0], first)).objects
    await say(store, chunks[1], replace(second, properties=properties))
    assert ident is not None
    assert (await store.graph.objects.get(ident)).properties == {"power": "40 kW", "tags": ["old"]}
