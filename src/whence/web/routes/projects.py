"""Projects: the tenants."""

from whence.api.base import Listing
from whence.api.lightrag import require_allowed
from whence.api.projects import ProjectChange, ProjectCreate, ProjectModel
from whence.errors import Conflict, Forbidden, StorageUnavailable, URLRefused
from whence.fetch import FetchRules
from whence.web.access import Admin, Reader
from whence.web.parameters import PagedByCursor, PathId
from whence.web.responses import Enveloped, listed, success
from whence.web.routes import api_router, documented

router = api_router("projects", prefix="/projects")


@router.post("", status_code=201, responses=documented(Conflict, URLRefused))
async def create_project(access: Admin, body: ProjectCreate) -> Enveloped[ProjectModel]:
    """Create a project.

    Needs a key for all projects. 409 `CONFLICT` when the name is taken. A name must not be a UUID.
    """
    if access.project_id is not None:
        raise Forbidden("A key of one project cannot create another")
    access.app.extractors.require_known(body.config.extractor)
    await require_allowed(body.config.lightrag_url, FetchRules.of(access.app.settings).allow)
    project = await access.store.projects.create(
        name=body.name,
        description=body.description,
        language=body.language if "language" in body.model_fields_set else None,
        config=body.config.chosen(),
    )
    if key := body.config.key_change():
        await key.apply(access.store, project.id)
    return success(ProjectModel.of(project), 201)


@router.get("")
async def list_projects(access: Reader, page: PagedByCursor) -> Enveloped[Listing[ProjectModel]]:
    """List the projects that the key gives access to."""
    if access.project_id is None:
        projects, total = await access.store.projects.page(
            limit=page.fetched, offset=page.offset, after=page.after
        )
    else:
        own = [await access.store.projects.get(access.project_id)]
        projects, total = page.part_of(own), 1
    return listed(ProjectModel, projects, total, page)


@router.get("/{project_id}")
async def get_project(access: Reader, project_id: PathId) -> Enveloped[ProjectModel]:
    """Get a project."""
    access.only_own(project_id)
    return success(ProjectModel.of(await access.store.projects.get(project_id)))


@router.patch("/{project_id}", responses=documented(Conflict, URLRefused))
async def change_project(access: Admin, project_id: PathId, body: ProjectChange) -> Enveloped[ProjectModel]:
    """Change a project's name, description, language or settings.

    409 `CONFLICT` when the name is taken, but only for a key for all projects: a key of one project must not learn other names.

    Absent fields stay as they are, also inside `config` and its `context`. A null `description` removes it.

    Another `language` rebuilds the text index before the answer; meanwhile searches use the old one.
    """
    access.only_own(project_id)
    project = await access.store.projects.get(project_id)
    access.app.extractors.require_known(body.config.extractor)
    await require_allowed(body.config.lightrag_url, FetchRules.of(access.app.settings).allow)
    return success(ProjectModel.of(await body.apply(access.store, project, own=access.project_id)))


@router.delete("/{project_id}", responses=documented(Conflict, StorageUnavailable))
async def delete_project(access: Admin, project_id: PathId) -> Enveloped[ProjectModel]:
    """Delete a project and everything in it.

    This cannot be undone. 409 `CONFLICT` for the default project.
    """
    access.only_own(project_id)
    project = await access.store.projects.get(project_id)
    await access.app.remover.project(project_id)
    return success(ProjectModel.of(project))
