"""Projects: the tenants. Deleting one deletes everything it owns."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from whence.errors import Conflict, ProjectNotFound
from whence.models import DEFAULT_PROJECT_ID, Project, new_id, now
from whence.store.graph.locks import retry_races
from whence.store.inventory import Inventory
from whence.store.jobs import Jobs
from whence.store.pool import PagedQuery, Queries, Statements, fields_of, reader

_LANGUAGE = "language"
_COLUMNS: LiteralString = "id, name, description, config, created_at, updated_at"
project_of = reader(Project, _COLUMNS)

INSERT: LiteralString = f"""
INSERT INTO kb.projects ({_COLUMNS})
SELECT %(id)s, %(name)s, %(description)s, %(config)s, %(created_at)s, %(updated_at)s
WHERE NOT EXISTS (SELECT FROM kb.projects WHERE name = %(name)s)
"""
ENSURE_DEFAULT: LiteralString = """
INSERT INTO kb.projects (id, name, created_at, updated_at)
VALUES (%(id)s, 'default', %(now)s, %(now)s)
ON CONFLICT DO NOTHING
"""
SELECT_ONE: LiteralString = f"SELECT {_COLUMNS} FROM kb.projects WHERE id = %(id)s"
HOLD: LiteralString = """
SELECT p.id, p.name, p.description, p.config, p.created_at, p.updated_at, s.id, s.provider, s.model, s.dimensions
FROM kb.projects p
LEFT JOIN kb.embedding_spaces s ON s.id = p.space_id
WHERE p.id = %(id)s
FOR SHARE OF p
"""
SELECT_NAMED: LiteralString = f"""
SELECT {_COLUMNS} FROM kb.projects
WHERE name = %(name)s AND (id = %(own)s::uuid OR (%(own)s::uuid IS NULL AND named_by IS NULL))
"""
PAGED = PagedQuery(project_of, _COLUMNS, "FROM kb.projects WHERE true", "id", is_after="id > %(after)s")
UPDATE: LiteralString = """
UPDATE kb.projects
SET name = %(name)s, named_by = CASE WHEN name = %(name)s THEN named_by ELSE %(named_by)s::uuid END, description = %(description)s, config = config || %(config)s, updated_at = %(updated_at)s
WHERE id = %(id)s
"""
KEEP: LiteralString = "SELECT FROM kb.projects WHERE id = %(id)s FOR KEY SHARE"
LOCK: LiteralString = "SELECT id FROM kb.projects WHERE id = %(id)s FOR UPDATE"
LOCK_DOCUMENTS: LiteralString = "SELECT FROM kb.documents WHERE project_id = %(id)s ORDER BY id FOR UPDATE"
DELETE: LiteralString = "DELETE FROM kb.projects WHERE id = %(id)s"


class Projects(Statements):
    async def ensure_default(self) -> None:
        await self._queries.run(ENSURE_DEFAULT, {"id": DEFAULT_PROJECT_ID, "now": now()})

    async def create(
        self,
        *,
        name: str,
        description: str | None = None,
        language: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Project:
        moment = now()
        project = Project(
            id=new_id(),
            name=name,
            description=description,
            config={**(config or {}), **({_LANGUAGE: language} if language else {})},
            created_at=moment,
            updated_at=moment,
        )
        try:
            added = await self._queries.run(INSERT, fields_of(project))
        except psycopg.errors.UniqueViolation as exc:
            raise _name_taken(name) from exc
        if not added:
            raise _name_taken(name)
        return project

    async def get(self, project_id: UUID) -> Project:
        row = await self._queries.one(SELECT_ONE, {"id": project_id})
        if row is None:
            raise _not_found(project_id)
        return project_of(row)

    async def named(self, name: str, *, own: UUID | None = None) -> Project:
        """The project of this name. With `own`, only that project is considered; without, names that a project's own key gave it are
        not.
        """
        row = await self._queries.one(SELECT_NAMED, {"name": name, "own": own})
        if row is None:
            raise ProjectNotFound(f"There is no project named {name!r}", details={"name": name})
        return project_of(row)

    async def page(self, *, limit: int, offset: int, after: UUID | None = None) -> tuple[list[Project], int]:
        return await self._queries.page(PAGED, {}, limit=limit, offset=offset, after=after)

    async def update(self, project: Project, *, own: UUID | None = None) -> Project:
        """Update all fields except the language, which only `search.index.reindex` changes.

        `own` is the only project that the caller sees. Names of other projects are then no conflict, because the caller must not learn
        them.
        """
        changed = replace(project, updated_at=now())
        config = {name: value for name, value in project.config.items() if name != _LANGUAGE}
        try:
            touched = await self._queries.run(
                UPDATE, {**fields_of(changed), "config": config, "named_by": own}
            )
        except psycopg.errors.UniqueViolation as exc:
            raise _name_taken(project.name) from exc
        if not touched:
            raise _not_found(project.id)
        return changed

    async def keep(self, project_id: UUID) -> None:
        """Keep the project from being deleted until the transaction ends."""
        await self._queries.run(KEEP, {"id": project_id})

    async def delete(self, project_id: UUID) -> list[str]:
        """Delete the project with everything it owns. Returns the keys of its originals, which stay in the storage."""
        if project_id == DEFAULT_PROJECT_ID:
            raise Conflict("The default project cannot be deleted", details={"project_id": str(project_id)})

        async def attempt(tx: Queries) -> list[str]:
            await tx.be_patient()
            # Every writer locks in this order: project, documents, jobs, then everything else.
            if not await tx.run(LOCK, {"id": project_id}):
                raise _not_found(project_id)
            await tx.run(LOCK_DOCUMENTS, {"id": project_id})
            await Jobs(tx).hold_all(project_id)
            keys = await Inventory(tx).owned(project_id)
            await tx.run(DELETE, {"id": project_id})
            return keys

        return await retry_races(self._queries, attempt)


def _not_found(project_id: UUID) -> ProjectNotFound:
    return ProjectNotFound(details={"project_id": str(project_id)})


def _name_taken(name: str) -> Conflict:
    return Conflict(f"There is a project named {name!r} already", details={"field": "name", "provided": name})
