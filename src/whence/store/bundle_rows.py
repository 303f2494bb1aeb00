"""The rows of a project in a bundle: one JSON object per row, of these columns. Files: `whence.transfer`.

The columns are part of the bundle's format. A test fails when a table has a column that is neither listed nor left out here.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from whence.errors import BadInput
from whence.models import EmbeddingSpace, Project
from whence.store.pool import Row, Statements

_AT_ONCE = 500  # rows per round trip of an export

_CLAIM: LiteralString = """
    id, said_of, chunk_id, property_name, operation, schema_number, value, quote, start_offset, end_offset, extracted_at,
    is_grounded, elements"""
_TIE: LiteralString = """
    id, said_source, said_target, chunk_id, schema_number, properties, quote, start_offset, end_offset, extracted_at, operation,
    is_grounded"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleTable:
    columns: LiteralString
    key: LiteralString = "id"
    """The order of the rows."""
    left_out: LiteralString = ""
    """Columns that another installation cannot use, or that are computed."""
    of_space: bool = False
    """Rows of the project's embedding space only."""
    own_ids: bool = False
    """True if the API finds rows by id alone. The ids must then be unused in the installation."""


TABLES: dict[LiteralString, BundleTable] = {
    "schemas": BundleTable(columns="number, sha256, body, created_at", key="number", left_out="version"),
    "replaced_lists": BundleTable(columns="type, property_name", key="type, property_name"),
    "documents": BundleTable(
        columns="""id, name, origin, mime, size, sha256, text, page_map, metadata, current_job_id, created_at, updated_at,
    original_key, fetched, version, version_at, valid_from, dated_at""",
        own_ids=True,
    ),
    "jobs": BundleTable(
        columns="""id, document_id, type, name, status, stage, done, total, attempts, config, error_details, schema_number,
    file_name, file_type, file_size, created_at, started_at, completed_at""",
        left_out="run_id, tries",
        own_ids=True,
    ),
    "chunks": BundleTable(
        columns="id, document_id, job_id, chunk_index, text, content_hash, metadata, created_at", own_ids=True
    ),
    "document_versions": BundleTable(
        columns="document_id, version, version_at, text, chunk_ids, chunk_starts", key="document_id, version"
    ),
    "chunk_vectors": BundleTable(columns="id, embedding", left_out="space_id, token_count", of_space=True),
    "graph_objects": BundleTable(
        columns="id, type, name, name_key, properties, created_at, updated_at", own_ids=True
    ),
    "object_vectors": BundleTable(columns="id, embedding", left_out="space_id", of_space=True),
    "relationships": BundleTable(
        columns="id, type, source_id, target_id, properties, created_at, updated_at", own_ids=True
    ),
    "object_provenance": BundleTable(columns=f"{_CLAIM}, object_id", left_out="schema_version"),
    "relationship_provenance": BundleTable(columns=f"{_TIE}, relationship_id"),
    "object_merges": BundleTable(
        columns="id, object_id, into_id, dropped_id, type, name, name_key, created_at, merged_at",
        left_out="space_id, embedding",
        own_ids=True,
    ),
    "hidden_claims": BundleTable(columns=_CLAIM),
    "hidden_relationship_claims": BundleTable(columns=f"{_TIE}, type"),
    "object_aliases": BundleTable(
        columns="said_of, chunk_id, alias_key, alias", key="said_of, chunk_id, alias_key"
    ),
    "remembered_objects": BundleTable(
        columns="""id, document_id, object_id, type, name, name_key, created_at, merge_id, into_id, merged_at, gone_at,
    schema_number"""
    ),
    "chunk_extractions": BundleTable(
        columns="""chunk_id, job_id, schema_number, outcome, reason, prompt_tokens, completion_tokens, extracted_at, rejected,
    rejections, reader""",
        key="chunk_id, job_id",
    ),
    "curations": BundleTable(
        columns="""id, action, subject, type, name, name_key, property_name, value, relationship_type, target_type, target_name,
    target_key, undoes, author, reason, schema_number, created_at, undone_at, subject_id""",
        own_ids=True,
    ),
    "rejected_texts": BundleTable(
        columns="""id, curation_id, content_hash, type, name_key, property_name, value, relationship_type, target_type,
    target_key, schema_number, is_active"""
    ),
    "rejected_claims": BundleTable(columns=f"{_CLAIM}, type, name, name_key"),
    "rejected_relationship_claims": BundleTable(
        columns=f"{_TIE}, type, source_type, source_name, source_key, target_type, target_name, target_key"
    ),
    "dismissed_merges": BundleTable(
        columns="type, name_key, other_key, dismissed_at", key="type, name_key, other_key"
    ),
    "conversations": BundleTable(columns="id, title, created_at, updated_at", left_out="owner", own_ids=True),
    "answers": BundleTable(
        columns="id, conversation_id, turn_id, asked, answer, feedback, refreshes, refreshed_by, created_at",
        own_ids=True,
    ),
    "answer_grounds": BundleTable(
        columns="answer_id, number, chunk_id, start_offset, end_offset, reason, moved_at",
        key="answer_id, number",
    ),
}
"""Ordered so that every row comes after the rows that it refers to."""

# An unfinished job is exported as cancelled, because it has no task in another installation. It can be retried there.
_EXPORTED: dict[str, LiteralString] = {
    "original_key": "substr(original_key, length(project_id::text) + 2) AS original_key",
    "status": "CASE WHEN status IN ('pending', 'processing') THEN 'cancelled' ELSE status END AS status",
    "stage": "CASE WHEN status NOT IN ('pending', 'processing') THEN stage END AS stage",
    "config": """CASE WHEN config -> 'original' ? 'key'
        THEN jsonb_set(config, '{original,key}', to_jsonb(substr(config -> 'original' ->> 'key', length(project_id::text) + 2)))
        ELSE config END AS config""",
}
_IMPORTED: dict[str, LiteralString] = {
    "original_key": "%(project_id)s::text || '/' || original_key",
    "config": """CASE WHEN config -> 'original' ? 'key'
        THEN jsonb_set(config, '{original,key}', to_jsonb(%(project_id)s::text || '/' || (config -> 'original' ->> 'key')))
        ELSE config END""",
    "status": "CASE WHEN status IN ('pending', 'processing') THEN 'cancelled' ELSE status END",
}

_WITH_KEYS = {"documents", "jobs"}

SELECT_PROJECT: LiteralString = """
SELECT p.id, p.name, p.description, p.config, p.created_at, p.updated_at, s.id, s.provider, s.model, s.dimensions
FROM kb.projects p LEFT JOIN kb.embedding_spaces s ON s.id = p.space_id WHERE p.id = %(project_id)s
"""
INSERT_PROJECT: LiteralString = """
INSERT INTO kb.projects (id, name, description, config, space_id, created_at, updated_at)
VALUES (%(id)s, %(name)s, %(description)s, %(config)s, %(space_id)s, %(created_at)s, %(updated_at)s)
ON CONFLICT (id) DO UPDATE SET description = excluded.description, config = excluded.config, space_id = excluded.space_id
"""
SELECT_EMPTY: LiteralString = """
SELECT NOT EXISTS (SELECT FROM kb.documents WHERE project_id = %(id)s)
   AND NOT EXISTS (SELECT FROM kb.schemas WHERE project_id = %(id)s)
   AND NOT EXISTS (SELECT FROM kb.conversations WHERE project_id = %(id)s)
   AND NOT EXISTS (SELECT FROM kb.curations WHERE project_id = %(id)s)
"""
# Chunks that differ from their hash or from their span of the document's text.
COUNT_FALSE: LiteralString = """
SELECT count(*) FROM kb.chunks c JOIN kb.documents d ON d.project_id = c.project_id AND d.id = c.document_id
WHERE c.project_id = %(project_id)s
  AND (c.content_hash <> sha256(convert_to(c.text, 'UTF8'))
       OR c.text <> coalesce(substr(d.text, (c.metadata ->> 'startOffset')::integer + 1,
                                    (c.metadata ->> 'endOffset')::integer - (c.metadata ->> 'startOffset')::integer), c.text))
"""
SELECT_ORIGINALS: LiteralString = """
SELECT DISTINCT original_key FROM kb.documents WHERE project_id = %(project_id)s AND original_key IS NOT NULL
"""
# Originals of earlier jobs no longer exist, but their keys must still be valid.
COUNT_FALSE_KEYS: LiteralString = """
SELECT count(*) FROM kb.jobs
WHERE project_id = %(project_id)s AND config -> 'original' ->> 'key' !~ '^[0-9a-f-]{36}(/[0-9A-Za-z_-][0-9A-Za-z._-]*)+$'
"""


def _select(table: LiteralString, shape: BundleTable) -> LiteralString:
    columns = _select_columns(table, shape, _EXPORTED)
    space: LiteralString = "AND space_id = %(space_id)s" if shape.of_space else ""
    return f"""
SELECT row_to_json(r)::text
FROM (SELECT {columns} FROM kb.{table} WHERE project_id = %(project_id)s {space} ORDER BY {shape.key}) r
"""


def _insert(table: LiteralString, shape: BundleTable) -> LiteralString:
    columns: LiteralString = ", ".join(columns_of(shape))
    values = _select_columns(table, shape, _IMPORTED)
    space: LiteralString = ", space_id" if shape.of_space else ""
    its: LiteralString = ", %(space_id)s" if shape.of_space else ""
    return f"""
INSERT INTO kb.{table} (project_id{space}, {columns})
SELECT %(project_id)s{its}, {values} FROM json_populate_recordset(NULL::kb.{table}, %(rows)s::json)
"""


def _select_columns(table: str, shape: BundleTable, changes: dict[str, LiteralString]) -> LiteralString:
    """The table's columns, with `changes` applied to documents and jobs: they add or remove the project's id in keys of originals."""
    return ", ".join(changes.get(name, name) if table in _WITH_KEYS else name for name in columns_of(shape))


def _find_holder(table: LiteralString) -> LiteralString:
    return f"""
SELECT p.name FROM kb.{table} t JOIN kb.{table} o ON o.id = t.id AND o.project_id <> %(project_id)s
JOIN kb.projects p ON p.id = o.project_id
WHERE t.project_id = %(project_id)s LIMIT 1
"""


def columns_of(shape: BundleTable) -> list[LiteralString]:
    return [name.strip() for name in shape.columns.split(",")]


async def rows_of(
    conn: psycopg.AsyncConnection[Row], table: LiteralString, project_id: UUID, space_id: UUID | None
) -> AsyncIterator[str]:
    """The rows of one table as lines of JSON. The connection is in a transaction."""
    params = {"project_id": project_id, "space_id": space_id}
    async with conn.cursor(name="bundle") as cursor:
        cursor.itersize = _AT_ONCE
        await cursor.execute(_select(table, TABLES[table]), params)
        async for row in cursor:
            yield row[0]


class BundleRows(Statements):
    """Writes the rows of a bundle. Runs in a transaction."""

    async def is_empty(self, project_id: UUID) -> bool:
        return bool(await self._queries.value(SELECT_EMPTY, {"id": project_id}))

    async def put_project(self, project: Project, space: EmbeddingSpace | None) -> None:
        """Create the project, or apply the bundle's settings to an empty one."""
        params = {name: getattr(project, name) for name in Project.__slots__}
        await self._queries.run(INSERT_PROJECT, {**params, "space_id": space and space.id})

    async def insert(
        self, table: LiteralString, project_id: UUID, space: EmbeddingSpace | None, lines: Sequence[bytes]
    ) -> None:
        """Raises `BadInput` if the database refuses a row."""
        params: dict[str, Any] = {"project_id": project_id, "space_id": space and space.id}
        rows = b"[" + b",".join(lines) + b"]"
        try:
            text = rows.decode()
            await self._queries.run(_insert(table, TABLES[table]), {**params, "rows": text})
        except (psycopg.DataError, psycopg.IntegrityError, psycopg.NotSupportedError) as exc:
            said = exc.diag.message_primary or "a row is not valid"
            raise BadInput(f"its {table} are not valid: {said}") from exc
        except UnicodeDecodeError as exc:
            raise BadInput(f"its {table} are not valid: not UTF-8") from exc

    async def holder_of_ids(self, project_id: UUID) -> str | None:
        """The name of another project that has an id of this one; None if all ids are free."""
        for table, shape in TABLES.items():
            if shape.own_ids and (
                name := await self._queries.value(_find_holder(table), {"project_id": project_id})
            ):
                return str(name)
        return None

    async def count_false_chunks(self, project_id: UUID) -> int:
        """Number of chunks that differ from their hash or from their place in the document's text."""
        try:
            return int(await self._queries.value(COUNT_FALSE, {"project_id": project_id}))
        except psycopg.DataError as exc:
            raise BadInput("its chunks have metadata that is not valid") from exc

    async def originals(self, project_id: UUID) -> list[str]:
        """Keys of originals that documents refer to."""
        return await self._queries.column(SELECT_ORIGINALS, {"project_id": project_id})

    async def count_false_keys(self, project_id: UUID) -> int:
        return int(await self._queries.value(COUNT_FALSE_KEYS, {"project_id": project_id}))
