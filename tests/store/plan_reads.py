"""Every way the store reads, for `test_plans.py`."""

from collections.abc import Awaitable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from tests.store.plan_database import SPACE, THE_SPACE, Read, absent, entered, exhausted, parts, refused

from whence.models import (
    ChunkKey,
    Filters,
    now,
)
from whence.store import (
    Store,
)
from whence.store.document_identity import Original
from whence.store.evidence import PagedDocument, StoredLayout, TextSpan
from whence.store.halfvec import halfvec


def reads() -> dict[str, Read]:
    """Every way the store reads."""
    found: dict[str, Read] = {}
    for source in (False, True):
        for embedding in (False, True):
            with_ = {"source": source, "embedding": embedding}
            for bound in (False, True):
                label = f"{source=} {embedding=} {bound=}"

                def one(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    return s.chunks.get(
                        rows[0][0], project_id=rows[0][2] if b else None, job_id=rows[0][1], **w
                    )

                def bulk(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    ids = [row[0] for row in rows[:100]]
                    return s.chunks.bulk(ids, project_id=rows[0][2] if b else None, **w)

                def job(s: Store, rows: Any, w: Any = with_, b: bool = bound) -> Awaitable[Any]:
                    owner = rows[0][2] if b else None
                    return s.chunks.of_job(rows[0][1], project_id=owner, limit=20, offset=40, **w)

                found[f"chunk {label}"], found[f"bulk {label}"], found[f"job {label}"] = one, bulk, job

            def document(s: Store, rows: Any, w: Any = with_) -> Awaitable[Any]:
                return s.chunks.of_document(rows[0][2], rows[0][3], limit=20, offset=40, **w)

            found[f"document {source=} {embedding=}"] = document
    found["project"] = lambda s, rows: s.projects.get(rows[0][2])
    found["project by name"] = lambda s, _rows: s.projects.named("project 7")
    found["projects"] = lambda s, _rows: s.projects.page(limit=20, offset=0)
    found["key"] = lambda s, _rows: refused(s)
    found["keys"] = lambda s, _rows: s.keys.all()
    found["audit"] = lambda s, _rows: s.audit.page(limit=20)
    found["audit after an entry"] = lambda s, rows: s.audit.page(limit=20, after=rows[0][2])
    found["chunks of a document after one"] = lambda s, rows: s.chunks.of_document(
        rows[0][2], rows[0][3], limit=20, offset=0, after=UUID(rows[0][0])
    )
    found["relationships after one"] = lambda s, rows: s.graph.relationships.page(
        rows[0][2], limit=20, offset=0, after=rows[0][3]
    )
    found["corrections after one"] = lambda s, rows: s.graph.curations.page(
        rows[0][2], limit=20, offset=0, after=rows[0][3]
    )
    found["documents after one"] = lambda s, rows: s.documents.page(rows[0][2], limit=20, after=rows[0][3])
    found["jobs after one"] = lambda s, rows: s.jobs.page(rows[0][2], limit=20, after=rows[0][3])
    found["objects after one"] = lambda s, rows: s.graph.objects.page(rows[0][2], limit=20, after=rows[0][3])
    found["audit of a project"] = lambda s, rows: s.audit.page(
        project_id=rows[0][2], key_id=rows[0][2], action="x", limit=20
    )
    found["any key"] = lambda s, _rows: s.keys.any_active()
    found["space"] = lambda s, _rows: s.vectors.ensure_space(provider="test", model="ramp", dimensions=4)
    found["worker"] = lambda s, _rows: s.queue.worker_alive()
    return (
        found
        | document_reads()
        | job_reads()
        | evidence_reads()
        | reads_of_searches()
        | lexical_reads()
        | graph_reads()
        | provenance_reads()
    )


def document_reads() -> dict[str, Read]:
    return {
        "an old version": lambda s, rows: s.versions.old(rows[0][2], rows[0][3], 1),
        "the current version": lambda s, rows: s.versions.current(rows[0][2], rows[0][3], 1),
        "the versions": lambda s, rows: s.versions.facts(rows[0][2], rows[0][3]),
        "start of a chunk": lambda s, rows: s.versions.chunk_start(rows[0][2], UUID(rows[0][0])),
        "chunk at a place": lambda s, rows: s.versions.chunk_at(rows[0][2], rows[0][3], 1),
        "a part of a document": lambda s, rows: s.documents.part(rows[0][2], rows[0][3], start=0, end=9),
        "one document": lambda s, rows: s.documents.get(rows[0][3]),
        "one document of a project": lambda s, rows: s.documents.get(rows[0][3], project_id=rows[0][2]),
        "document by its bytes": lambda s, rows: s.documents.same(
            rows[0][2], b"1", name="d", origin="file:///d"
        ),
        "document with the same bytes": lambda s, rows: s.documents.shared_key(rows[0][2], b"1"),
        "document like another": lambda s, rows: s.documents.require_unlike_others(
            rows[0][2], rows[0][3], Original(key="k", name="d", mime="text/plain", size=1, sha256=b"no")
        ),
        "document by its origin": lambda s, rows: s.documents.of_origin(rows[0][2], "http://example.org/"),
        "documents by their name": lambda s, rows: s.documents.named(rows[0][2], "d"),
        "documents from files": lambda s, rows: s.documents.from_files(rows[0][2]),
        "text": lambda s, rows: s.documents.content(rows[0][3]),
        "span of a text": lambda s, rows: s.texts.span(rows[0][3], project_id=rows[0][2], start=1, end=3),
        "parts of a text": lambda s, rows: parts(s, rows[0][3]),
        "pages": lambda s, rows: s.documents.pages(rows[0][2], [rows[0][3]]),
        "view": lambda s, rows: s.documents.view(rows[0][3]),
        "view of a project": lambda s, rows: s.documents.view(rows[0][3], project_id=rows[0][2]),
        "documents": lambda s, rows: s.documents.page(rows[0][2], limit=20, offset=0),
        "documents by name": lambda s, rows: s.documents.page(rows[0][2], limit=20, sort="name"),
        "documents, filtered": lambda s, rows: s.documents.page(
            rows[0][2], limit=20, offset=0, status="completed", mimes=["text/"], extensions=[".md"], name="d"
        ),
        "describe": lambda s, rows: s.documents.describe(
            rows[0][2], rows[0][3], {"validFrom": "2020-05-01", "b": None}
        ),
        "inventory": lambda s, _rows: s.inventory.all(),
        "storage": lambda s, _rows: s.inventory.storage_id(),
        "originals of a document": lambda s, rows: s.inventory.owned(rows[0][2], rows[0][3]),
        "originals of a project": lambda s, rows: s.inventory.owned(rows[0][2]),
        "trash": lambda s, _rows: s.inventory.trash(),
        "referred originals": lambda s, _rows: s.inventory.referred(),
        "leftovers": lambda s, _rows: s.inventory.count_leftovers(before=now()),
        "backup": lambda s, _rows: s.inventory.backup_runs(),
        "alone": lambda s, _rows: entered(s.inventory.alone()),
        "layout": lambda s, rows: s.chunks.layout(rows[0][2], rows[0][3], SPACE),
        "spaces": lambda s, rows: s.vectors.spaces(rows[0][2]),
        "following": lambda s, rows: s.vectors.following(rows[0][2], SPACE, after=None, limit=64),
        "filled": lambda s, rows: s.vectors.filled(rows[0][2], SPACE),
    }


def reads_of_searches() -> dict[str, Read]:
    def ids(rows: Any) -> list[UUID]:
        return [UUID(row[0]) for row in rows[:20]]

    def keys(rows: Any) -> list[ChunkKey]:
        return [ident.bytes for ident in ids(rows)]

    documents = {"document_ids": [uuid4()]}
    return {
        "matching documents": lambda s, rows: s.documents.matching(
            rows[0][2], Filters(mimes=("text/",), extensions=(".md",), created_from=now())
        ),
        "nearest": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10
        ),
        "nearest of documents": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10, document_ids=[rows[0][3]]
        ),
        "nearest, thoroughly": lambda s, rows: s.nearest.search(
            "exact", rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), limit=10, ef=200
        ),
        "vectors": lambda s, rows: s.nearest.vectors(rows[0][2], THE_SPACE, ids(rows)),
        "distances": lambda s, rows: s.nearest.distances(
            rows[0][2], THE_SPACE, halfvec([1, 2, 3, 4]), keys(rows)
        ),
        "all vectors": lambda s, rows: s.nearest.whole(rows[0][2], THE_SPACE),
        "count vectors": lambda s, rows: s.nearest.count(rows[0][2], THE_SPACE, most=10),
        "count of documents": lambda s, rows: s.nearest.count(rows[0][2], THE_SPACE, most=10, **documents),
        "size of a space": lambda s, _rows: s.nearest.space_size(THE_SPACE),
        "largest of a space": lambda s, _rows: s.nearest.largest(THE_SPACE, most=10),
        "index": lambda s, _rows: s.nearest.index(THE_SPACE),
        "setting": lambda s, rows: s.hits.setting(rows[0][2]),
        "hits": lambda s, rows: s.hits.read(
            rows[0][2], keys(rows), space=THE_SPACE, vector=halfvec([1, 2, 3, 4])
        ),
        "hits with state": lambda s, rows: s.hits.read(
            rows[0][2],
            keys(rows),
            space=THE_SPACE,
            vector=halfvec([1, 2, 3, 4]),
            with_state=True,
            words=["annual", "report", "2023"],
        ),
        "words of names": lambda s, rows: s.hits.name_words(rows[0][2], most=10),
        "hits of documents": lambda s, rows: s.hits.of_documents(rows[0][2], [rows[0][3]], keys(rows)),
        "a chunk and its project": lambda s, rows: s.hits.one(rows[0][0], project_id=None),
        "beside": lambda s, rows: s.hits.beside(rows[0][2], ids(rows), count=2),
        "alike": lambda s, rows: s.hits.alike(rows[0][2], THE_SPACE, ids(rows), count=3, apart=1),
        "objects": lambda s, rows: s.hits.objects(rows[0][2], THE_SPACE, ids(rows), count=10, similarity=0.5),
        "some objects": lambda s, rows: s.hits.objects(
            rows[0][2], THE_SPACE, ids(rows), count=10, similarity=0.5, among=ids(rows)
        ),
        "waiting": lambda s, _rows: s.queue.waiting("whence:ingest"),
    }


def lexical_reads() -> dict[str, Read]:
    def keys(rows: Any) -> list[ChunkKey]:
        return [UUID(row[0]).bytes for row in rows[:100]]

    return {
        "segments": lambda s, rows: s.lexical.segments(rows[0][2]),
        "blocks": lambda s, rows: s.lexical.blocks(rows[0][2], [rows[0][3]]),
        "postings": lambda s, rows: s.lexical.postings(rows[0][2], [-5_500, 3, 7_700]),
        "whole segments": lambda s, rows: s.lexical.whole(rows[0][2]),
        "contents": lambda s, rows: s.lexical.contents(rows[0][2], keys(rows)),
        "chunks with a character": lambda s, rows: s.lexical.having(rows[0][2], "猫"),
        "chunks in order": lambda s, rows: s.lexical.following(rows[0][2], after=None, limit=64),
        "words": lambda s, rows: s.lexical.words(rows[0][2]),
        "earlier claims": lambda s, rows: s.graph.known_claims.earlier(rows[0][2], UUID(rows[0][0])),
        "earlier relationships": lambda s, rows: s.graph.known_claims.earlier_ties(
            rows[0][2], UUID(rows[0][0])
        ),
        "segments with words": lambda s, rows: s.lexical.worded(rows[0][2]),
        "named": lambda s, rows: s.hits.named(rows[0][2], ["d", "ulta"], most=21),
        "sample": lambda s, rows: s.backgrounds.sample(rows[0][2], SPACE, count=10),
        "references": lambda s, _rows: s.backgrounds.references(SPACE, digest=b"x"),
        "put_references": lambda s, _rows: s.backgrounds.put_references(SPACE, digest=b"x", vectors=b"y"),
        "language": lambda s, rows: s.lexical.language(rows[0][2]),
        "chunks of a document": lambda s, rows: s.chunks.ids_of_document(rows[0][2], rows[0][3]),
        "chunks of a job": lambda s, rows: s.chunks.ids_of_job(rows[0][2], UUID(rows[0][1])),
    }


def job_reads() -> dict[str, Read]:
    return {
        "one job": lambda s, rows: s.jobs.get(rows[0][1]),
        "one job of a project": lambda s, rows: s.jobs.get(rows[0][1], project_id=rows[0][2]),
        "many jobs": lambda s, rows: s.jobs.many(rows[0][2], [UUID(row[1]) for row in rows[:100]]),
        "jobs": lambda s, rows: s.jobs.page(rows[0][2], limit=20, offset=0),
        "hold jobs": lambda s, rows: s.jobs.hold_all(rows[0][2], rows[0][3]),
        "jobs, filtered": lambda s, rows: s.jobs.page(
            rows[0][2],
            limit=20,
            offset=0,
            status="completed",
            job_type="document_processing",
            document_id=rows[0][3],
        ),
        "extractions that wait": lambda s, rows: s.jobs.unbegun(rows[0][2], rows[0][3]),
        "staged vectors": lambda s, rows: s.staging.embedded(rows[0][2], UUID(rows[0][1]), SPACE),
    }


def evidence_reads() -> dict[str, Read]:
    document = partial(
        PagedDocument, name="d", mime="application/pdf", version=0, original_key=None, pages=(), length=1
    )
    layout = StoredLayout(1, 100.0, 100.0, 0, b"")
    return {
        "paged documents": lambda s, rows: s.evidence.documents(rows[0][2], [row[3] for row in rows[:100]]),
        "pieces of texts": lambda s, rows: s.evidence.pieces(
            rows[0][2], [TextSpan(row[3], 0, 1) for row in rows[:100]]
        ),
        "spans of chunks": lambda s, rows: s.evidence.of_chunks(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "spans of claims": lambda s, rows: s.evidence.of_claims(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "readers of chunks": lambda s, rows: s.evidence.readers(
            rows[0][2], [UUID(row[0]) for row in rows[:100]]
        ),
        "layouts": lambda s, rows: s.evidence.layouts(document(project_id=rows[0][2], id=rows[0][3]), [1, 2]),
        "put layout": lambda s, rows: s.evidence.put_layout(
            document(project_id=rows[0][2], id=rows[0][3]), layout
        ),
    }


def graph_reads() -> dict[str, Read]:
    found: dict[str, Read] = {
        "current schema": lambda s, rows: s.schemas.current(rows[0][2]),
        "one schema": lambda s, rows: s.schemas.get(rows[0][2], 2),
        "schemas between": lambda s, rows: s.schemas.between(rows[0][2], 1, 3),
        "schemas": lambda s, rows: s.schemas.page(rows[0][2], limit=20, offset=0),
        "no such object": lambda s, _rows: absent(s.graph.objects.get(uuid4())),
        "no such relationship": lambda s, _rows: absent(s.graph.relationships.get(uuid4())),
        "no such merge": lambda s, _rows: absent(s.graph.merges.get(uuid4())),
        "merges": lambda s, rows: s.graph.merges.page(rows[0][2], limit=20, offset=0),
        "conflicts": lambda s, rows: s.graph.conflicts.page(rows[0][2], limit=20, offset=0),
        "conflicts of an object": lambda s, rows: s.graph.conflicts.page(
            rows[0][2], object_id=UUID(rows[0][0]), limit=20, offset=0
        ),
        "suggestions": lambda s, rows: s.graph.suggestions.page(rows[0][2], limit=20, offset=0),
        "sorted objects": lambda s, rows: s.graph.objects.page(
            rows[0][2],
            limit=20,
            offset=0,
            sort="claims",
            descending=True,
            updated_since=now(),
            ids=[UUID(row[0]) for row in rows[:100]],
        ),
        "many relationships": lambda s, rows: s.graph.relationships.many(rows[0][2], [UUID(rows[0][0])]),
        "relationships within documents": lambda s, rows: s.graph.relationships.around(
            rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]], limit=20
        ),
        "no such correction": lambda s, _rows: absent(s.graph.curations.get(uuid4())),
        "corrections": lambda s, rows: s.graph.curations.page(rows[0][2], limit=20, offset=0),
        "corrections of a name": lambda s, rows: s.graph.curations.page(
            rows[0][2], name="Harbour 1", limit=20, offset=0
        ),
        "corrections of an object": lambda s, rows: s.graph.curations.page(
            rows[0][2], object_id=UUID(rows[0][0]), limit=20, offset=0
        ),
        "many objects": lambda s, rows: s.graph.objects.many(rows[0][2], [UUID(row[0]) for row in rows]),
        "named objects": lambda s, rows: s.graph.objects.named(rows[0][2], ["a", "b"]),
        "numbered objects": lambda s, rows: s.graph.objects.numbered(rows[0][2], ["a", "b"]),
        "objects given by chunks": lambda s, rows: s.graph.objects.given_by(
            rows[0][2], [UUID(row[0]) for row in rows[:2]], limit=20
        ),
        "types": lambda s, rows: s.graph.objects.types(rows[0][2]),
        "similar": lambda s, rows: s.graph.objects.similar(
            rows[0][2], SPACE, halfvec([1, 2, 3, 4]), limit=10
        ),
        "lacking": lambda s, rows: s.graph.objects.lacking(rows[0][2], SPACE, limit=10),
        "neighbours": lambda s, rows: s.graph.views.neighbours(rows[0][2], [UUID(rows[0][0])]),
        "part": lambda s, rows: s.graph.views.part(rows[0][2]),
        "outline": lambda s, rows: s.graph.views.outline(rows[0][2], limit=100),
        "every object": lambda s, rows: exhausted(s.graph.objects.every(rows[0][2])),
        "every relationship": lambda s, rows: exhausted(s.graph.relationships.every(rows[0][2])),
    }
    for document in (False, True):

        def objects(s: Store, rows: Any, d: bool = document) -> Awaitable[Any]:
            return s.graph.objects.page(
                rows[0][2], limit=20, offset=0, name="a", document_id=rows[0][3] if d else None
            )

        found[f"objects {document=}"] = objects
        for ended in (False, True):

            def edges(s: Store, rows: Any, d: bool = document, e: bool = ended) -> Awaitable[Any]:
                return s.graph.relationships.page(
                    rows[0][2],
                    limit=20,
                    offset=0,
                    object_id=UUID(rows[0][0]) if e else None,
                    document_id=rows[0][3] if d else None,
                )

            found[f"relationships {document=} {ended=}"] = edges
    return found


def provenance_reads() -> dict[str, Read]:
    paged = {"limit": 20, "offset": 0}
    return {
        "claims": lambda s, rows: s.graph.provenance.of_object(rows[0][2], UUID(rows[0][0]), **paged),
        "current claims": lambda s, rows: s.graph.provenance.current(rows[0][2], [UUID(rows[0][0])]),
        "current claims within documents": lambda s, rows: s.graph.provenance.current(
            rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]]
        ),
        "claims of a chunk": lambda s, rows: s.graph.provenance.stated(
            rows[0][2], UUID(rows[0][0]), current=True, **paged
        ),
        "claims of a document": lambda s, rows: s.graph.provenance.stated(
            rows[0][2], rows[0][3], property_name="name", **paged
        ),
        "chunks of object": lambda s, rows: s.graph.mentions.of_object(rows[0][2], UUID(rows[0][0]), **paged),
        "objects of chunk": lambda s, rows: s.graph.mentions.of_chunk(rows[0][2], UUID(rows[0][0]), **paged),
        "older claims": lambda s, rows: s.graph.provenance.older(rows[0][2], 2, **paged),
        "claims of relationships": lambda s, rows: s.graph.provenance.of_relationships(
            rows[0][2], [UUID(rows[0][0])], **paged
        ),
        "history": lambda s, rows: s.graph.provenance.history(rows[0][2], UUID(rows[0][0]), **paged),
        "current claims of relationships": lambda s, rows: s.graph.provenance.current_of_relationships(
            rows[0][2], [UUID(rows[0][0])]
        ),
        "claims of relationships within documents": lambda s, rows: (
            s.graph.provenance.current_of_relationships(
                rows[0][2], [UUID(rows[0][0])], document_ids=[rows[0][3]]
            )
        ),
        "next chunk": lambda s, rows: s.graph.ledger.next_chunk(
            rows[0][2], rows[0][3], UUID(rows[0][1]), stale_before=2
        ),
        "oldest reading": lambda s, rows: s.graph.ledger.oldest(rows[0][2], rows[0][3]),
        "counts": lambda s, rows: s.graph.ledger.counts(rows[0][2], UUID(rows[0][1])),
        "readings": lambda s, rows: s.graph.ledger.readings(rows[0][2], UUID(rows[0][1]), **paged),
        "stale": lambda s, rows: s.graph.ledger.stale(rows[0][2], 2, **paged),
        "stale of a document": lambda s, rows: s.graph.ledger.stale(
            rows[0][2], 2, document_id=rows[0][3], **paged
        ),
        "stale by version": lambda s, rows: s.graph.ledger.by_version(rows[0][2], 2),
        "stale by version of a document": lambda s, rows: s.graph.ledger.by_version(
            rows[0][2], 2, document_id=rows[0][3]
        ),
        "stale documents": lambda s, rows: s.graph.ledger.stale_documents(rows[0][2], 2),
        "values added": lambda s, rows: s.graph.known_claims.added_by(
            rows[0][2], rows[0][3], since=now(), limit=10
        ),
        "quotes between": lambda s, rows: s.graph.known_claims.quotes_between(
            rows[0][2], UUID(rows[0][0]), [uuid4(), uuid4()]
        ),
        "quoted again": lambda s, rows: s.graph.known_claims.quoted_again(
            rows[0][2], UUID(rows[0][0]), "text", [uuid4(), uuid4()]
        ),
        "among read": lambda s, rows: s.graph.ledger.among_read(rows[0][2], [UUID(rows[0][0])]),
        "project of an object": lambda s, _rows: absent(s.graph.objects.project_of(uuid4())),
        "impact on the graph": lambda s, rows: s.graph.deletion_impact(rows[0][2], rows[0][3]),
        "impact on answers": lambda s, rows: s.answers.count_citing(rows[0][2], rows[0][3]),
        "impact of a chunk": lambda s, rows: s.graph.deletion_impact(rows[0][2], UUID(rows[0][0])),
    }
