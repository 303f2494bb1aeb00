"""Every way the store changes data, for `test_plans.py`."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from tests.store.plan_database import SPACE, Read, chunk
from tests.store.plan_graph_changes import corrected, dismissed, extracted, replaced, withdrawn

from whence.errors import Conflict, NotFound
from whence.models import (
    now,
)
from whence.store import (
    Store,
)
from whence.store.answers import StoredCitation
from whence.store.document_identity import Original
from whence.store.jobs import Progress
from whence.store.keys import EVERYONE
from whence.store.staging import Batch


def changes() -> dict[str, Read]:
    """Every way the store changes what is there; what they do is undone."""
    return {
        "lock": lambda s, rows: s.documents.lock(rows[0][2], rows[0][3]),
        "use job": lambda s, rows: s.documents.use_job(rows[0][2], rows[0][3], UUID(rows[0][1])),
        "use newest job": lambda s, rows: s.documents.use_newest_job(rows[0][2], rows[0][3]),
        "replace": lambda s, rows: s.documents.replace(
            rows[0][2],
            rows[0][3],
            job_id=UUID(rows[0][1]),
            original=Original(key="k", name="d", mime="text/plain", size=1, sha256=b"1"),
            valid_from=None,
            now=now(),
        ),
        "move document": _placed,
        "validators": lambda s, rows: s.documents.use_validators(
            rows[0][2],
            rows[0][3],
            Original(key="k", name="d", mime="text/plain", size=1, sha256=b"1", fetched={"etag": "x"}),
        ),
        "first start": lambda s, _rows: s.inventory.ensure_storage_id(),
        "inventory's rows": _inventory,
        "delete document": lambda s, rows: s.documents.delete(rows[0][2], rows[0][3]),
        "delete job": lambda s, rows: s.jobs.delete(rows[0][2], UUID(rows[0][1])),
        "keep project": lambda s, rows: s.projects.keep(rows[0][2]),
        "delete project": lambda s, rows: s.projects.delete(rows[0][2]),
        "change project": _renamed,
        "lightrag": _lightrag,
        "a job's way": _worked,
        "remove chunks": lambda s, rows: s.chunks.remove(rows[0][2], [UUID(row[0]) for row in rows[:100]]),
        "move chunks": _moved,
        "staged batches": _batches,
        "begin": _begun,
        "fill": lambda s, rows: s.vectors.fill(
            rows[0][2], SPACE, [UUID(rows[0][0])], np.ones((1, 4), np.float32), [1]
        ),
        "switch": _switched,
        "staged text": lambda s, rows: s.staging.text(
            rows[0][2], UUID(rows[0][1]), document_id=rows[0][3], sha256=b"1", mime="text/plain"
        ),
        "stage a text": lambda s, rows: s.staging.put_text(
            rows[0][2], UUID(rows[0][1]), mime="text/plain", text="long " * 200_000, pages=()
        ),
        "inherit": lambda s, rows: s.staging.inherit(
            rows[0][2], UUID(rows[0][1]), from_id=UUID(rows[1][1]), same_text=True
        ),
        "forget a space": lambda s, rows: s.vectors.forget(rows[0][2], SPACE),
        "clear": lambda s, rows: s.staging.clear(rows[0][2], UUID(rows[0][1])),
        "hold segments": lambda s, rows: s.lexical.hold(rows[0][2], [rows[0][3]]),
        "bury": lambda s, rows: s.lexical.bury(rows[0][2], rows[0][3], dead=b"xx", live=49, length=1),
        "drop segments": lambda s, rows: s.lexical.drop(rows[0][2], [rows[0][3]]),
        "clear segments": lambda s, rows: s.lexical.clear(rows[0][2]),
        "share the index": lambda s, rows: s.lexical.share(rows[0][2]),
        "claim the index": lambda s, rows: s.lexical.claim(rows[0][2]),
        "set language": lambda s, rows: s.lexical.set_language(rows[0][2], "german"),
        "defer": lambda s, _rows: s.queue.defer("whence:ingest", lock="x"),
        "defer once": lambda s, _rows: s.queue.defer_once("whence:compact", lock="x"),
        "give back": lambda s, _rows: s.queue.give_back(silence=15, worker_id=1, lost=[1]),
        "restore": lambda s, _rows: s.queue.restore(task="whence:ingest", job_type="document_processing"),
        "withdraw": lambda s, _rows: s.queue.withdraw("whence:ingest", lock="x"),
        "waits": lambda s, _rows: s.queue.waits("whence:ingest", lock="x"),
        "doing": lambda s, _rows: s.queue.doing(1),
        "fetch other": lambda s, _rows: s.queue.fetch_other("default", worker_id=1, full=["x"]),
        "revoke": lambda s, _rows: _unknown(s),
        "use of a key": lambda s, _rows: _used(s),
        "create a project": lambda s, _rows: s.projects.create(name="made"),
        "dismiss a suggestion": dismissed,
        "first schema": lambda s, _rows: _first_schema(s),
        "forget failures": lambda s, rows: s.graph.ledger.forget_failures(rows[0][2], UUID(rows[0][1])),
        "outlive a job": lambda s, rows: s.graph.ledger.outlive(rows[0][2], UUID(rows[0][1])),
        "put schema": lambda s, rows: s.schemas.put(
            rows[0][2],
            body={"object_types": {"Thing": {"properties": {"tags": {"merge": "replace"}}}}},
            sha256=b"another",
        ),
        "write a chunk, merge, undo": extracted,
        "set, reject, undo": corrected,
        "withdrawn": withdrawn,
        "withdraw chunks": lambda s, rows: s.graph.removal.chunks(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "withdraw replaced chunks": replaced,
        "withdraw a document": lambda s, rows: s.graph.removal.chunks_of_document(rows[0][2], rows[0][3]),
        "conversations": _talked,
        "keep a version": lambda s, rows: s.versions.keep(rows[0][2], rows[0][3], job_id=UUID(rows[0][1])),
        "withdraw a job": lambda s, rows: s.graph.removal.chunks_of_job(rows[0][2], UUID(rows[0][1])),
    }


async def _talked(store: Store, rows: Any) -> None:
    """Begun, asked in, listed, rated, refreshed, renamed, deleted."""
    project_id, answer_id = rows[0][2], uuid4()
    paged: Any = {"limit": 20, "offset": 0}
    made = await store.conversations.create(project_id, EVERYONE)
    given: Any = {"asked": {}, "answer": {}, "title": "t"}
    ground = StoredCitation(number=0, chunk_id=UUID(rows[0][0]))
    await store.answers.add(project_id, made.id, answer_id=answer_id, grounds=[ground], **given)
    stored = await store.answers.get(answer_id, EVERYONE)
    await store.answers.add(
        project_id, made.id, answer_id=uuid4(), grounds=[ground], refreshed=stored, **given
    )
    await store.answers.rate(stored, {"rating": "up"})
    await store.answers.amend(project_id, answer_id, {"notes": []})
    for stale in (None, True, False):
        await store.answers.page(project_id, EVERYONE, stale=stale, **paged)
        await store.answers.page(project_id, EVERYONE, stale=stale, feedback="any", **paged)
    await store.conversations.page(project_id, EVERYONE, **paged)
    await store.conversations.get(made.id, EVERYONE)
    again = await store.conversations.create(project_id, EVERYONE)
    other_id = uuid4()
    await store.answers.add(project_id, again.id, answer_id=other_id, grounds=[ground], **given)
    await store.answers.delete(await store.answers.get(other_id, EVERYONE))
    await store.conversations.turns(project_id, made.id)
    await store.conversations.answers(made)
    await store.conversations.rename(made, "another")
    await store.conversations.delete(made)
    await store.conversations.delete_old(now() - timedelta(days=365))


async def _inventory(store: Store, rows: Any) -> None:
    key = f"{rows[0][2]}/left"
    await store.inventory.note([key])
    assert await store.inventory.share(rows[0][2], key)
    assert await store.inventory.claim(rows[0][2], [key]) == [key]
    assert not await store.inventory.share(rows[0][2], key)
    await store.inventory.forget(rows[0][2], [key])
    await store.inventory.note([key])
    await store.inventory.claim_leftovers(before=now())
    found = next(one for one in await store.inventory.trash() if one.key == key)
    await store.inventory.mark(found, "trashed")
    await store.inventory.mark(found, "kept")
    await store.inventory.forget(found.project_id, [found.key])


async def _first_schema(store: Store) -> None:
    project = await store.projects.create(name="without a schema")
    await store.schemas.first(project.id, body={}, sha256=b"first")


async def _used(store: Store) -> None:
    key, _ = await store.keys.create(name="", scope="read", project_id=None)
    await store.keys.use(key.id, requests=1)
    await store.keys.note_use({key.id: now()})
    await store.audit.add(EVERYONE, action="x", path="/")
    await store.audit.prune(days=1)


async def _unknown(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.keys.revoke("000000000000")


async def _renamed(store: Store, rows: Any) -> None:
    await store.projects.update(replace(await store.projects.get(rows[0][2]), name="another name"))


async def _lightrag(store: Store, rows: Any) -> None:
    project_id = rows[0][2]
    await store.lightrag.projects()
    await store.lightrag.use_key(project_id, "http://x", "k")
    assert await store.lightrag.key(project_id, "http://x") == "k"
    assert await store.lightrag.key(project_id, "http://y") is None
    await store.lightrag.use_key(project_id, "http://x", None)
    document = await store.documents.get(rows[0][3])
    named = await store.lightrag.named(project_id, [document.name])
    assert document.id in named
    await store.lightrag.chunks_of_texts(project_id, ["a text"], named)


async def _placed(store: Store, rows: Any) -> None:
    document = await store.documents.get(rows[0][3])
    await store.documents.move(replace(document, name="another name", origin=None))


async def _begun(store: Store, rows: Any) -> None:
    document = await store.documents.get(rows[0][3])
    new = replace(document, id=uuid4(), sha256=uuid4().bytes * 2, current_job_id=uuid4())
    assert await store.documents.begin(new, config={}, task="whence:ingest")
    assert not await store.documents.begin(new, config={}, task="whence:ingest")


async def _batches(store: Store, rows: Any) -> None:
    async for _ in store.staging.batches(rows[0][2], UUID(rows[0][1]), SPACE):
        pass


async def _worked(store: Store, rows: Any) -> None:
    """Failed, tried again, taken, worked on, superseded, tried again, cancelled, ended."""
    job, run_id = await store.jobs.get(UUID(rows[0][1])), uuid4()
    with pytest.raises(Conflict):
        await store.jobs.retry(job)
    await store.jobs.take(job.project_id, job.id, run_id)
    await store.jobs.progress(job, run_id, Progress(stage="chunking"))
    batch = Batch.of([bytes(32)], [1], np.ones((1, 4), np.float32))
    await store.staging.put_vectors(job, run_id, Progress(stage="embedding"), space_id=SPACE, batch=batch)
    known: dict[str, Any] = {"space_id": SPACE, "sha256": b"1", "wanted": [bytes(32)]}
    await store.staging.put_known(job, run_id, Progress(stage="embedding"), **known)
    await store.documents.hold(job, run_id, SPACE)
    await store.jobs.amend(job, name="another")
    await store.jobs.note(job, run_id, schema_number=1, noted={})
    await store.jobs.end(job, run_id, "failed")
    await store.jobs.supersede(job.project_id, job.document_id)
    ids = [job.document_id]
    ordered = await store.jobs.order_extractions(
        job.project_id, ids, scope="all", space_id=SPACE, task="whence:extract"
    )
    parent = await store.jobs.parent(UUID(ordered[-1].config["parent"]), project_id=job.project_id)
    await store.jobs.cancel_parent(parent)
    with pytest.raises(Conflict):
        await store.jobs.cancel(job)


async def _moved(store: Store, rows: Any) -> None:
    await store.chunks.move(rows[0][2], [chunk(rows[0], 1000, UUID(rows[0][0]))])


async def _switched(store: Store, rows: Any) -> None:
    other = await store.vectors.ensure_space(provider="test", model="other", dimensions=4)
    await store.vectors.move_to(rows[0][2], other.id)
    await store.vectors.first_space(rows[0][2], other)
    some = await store.vectors.following(rows[0][2], other.id, after=None, limit=1000)
    ids = [ident for ident, _ in some]
    await store.vectors.fill(rows[0][2], other.id, ids, np.ones((len(ids), 4), np.float32), [1] * len(ids))
    assert await store.vectors.switch(rows[0][2], new=other.id)
