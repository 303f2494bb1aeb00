"""Projects: the tenants."""

from dataclasses import replace
from typing import Any

from fastapi import Response

from whence.errors import (
    BadInput,
    Conflict,
    Forbidden,
    InvalidParameter,
    InvalidUUID,
    PayloadTooLarge,
    ProjectNotFound,
    StorageUnavailable,
)
from whence.extract.context import amended
from whence.search.index import reindex
from whence.search.lexer import DEFAULT_LANGUAGE
from whence.types import Project
from whence.web.access import Admin, Reader
from whence.web.answer import page, success
from whence.web.inputs import Limit, Offset, ProjectId
from whence.web.models import Page, Success
from whence.web.project_models import ContextChoice, ProjectChange, ProjectConfig, ProjectCreate, ProjectModel
from whence.web.routes import api_router, documented

router = api_router("projects", prefix="/projects")


@router.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=Success[ProjectModel],
    responses=documented(BadInput, Conflict, PayloadTooLarge),
)
async def create_project(access: Admin, request: ProjectCreate) -> Response:
    if access.project_id is not None:
        raise Forbidden("A key of one project cannot create another")
    access.app.extractors.require_known(request.config.extractor)
    project = await access.store.projects.create(
        name=request.name,
        description=request.description,
        language=request.language,
        config=request.config.model_dump(exclude_unset=True),
    )
    return success(project_view(project), status=201)


@router.get(
    "",
    summary="The projects that the key opens",
    response_model=Success[Page[ProjectModel]],
    responses=documented(InvalidParameter),
)
async def list_projects(access: Reader, limit: Limit = 20, offset: Offset = 0) -> Response:
    if access.project_id is None:
        projects, total = await access.store.projects.page(limit=limit, offset=offset)
    else:
        own = [await access.store.projects.get(access.project_id)]
        projects, total = own[offset : offset + limit], 1
    return page([project_view(project) for project in projects], total=total, limit=limit, offset=offset)


@router.get(
    "/{project_id}",
    summary="One project",
    response_model=Success[ProjectModel],
    responses=documented(InvalidUUID, ProjectNotFound),
)
async def get_project(access: Reader, project_id: ProjectId) -> Response:
    access.only_own(project_id)
    return success(project_view(await access.store.projects.get(project_id)))


@router.patch(
    "/{project_id}",
    summary="Rename or describe a project, choose how it extracts or which language its texts are in",
    response_model=Success[ProjectModel],
    responses=documented(BadInput, InvalidUUID, ProjectNotFound, Conflict, PayloadTooLarge),
)
async def change_project(access: Admin, project_id: ProjectId, request: ProjectChange) -> Response:
    access.only_own(project_id)
    project = await access.store.projects.get(project_id)
    changes = request.model_dump(exclude_unset=True, exclude={"language"})
    access.app.extractors.require_known(changes.get("config", {}).get("extractor"))
    changed = replace(project, **changes | {"config": amended(project.config, changes.get("config", {}))})
    await access.store.projects.update(changed)
    if "language" in request.model_fields_set and request.language != language_of(project):
        await reindex(access.store, project_id, language=request.language)
    return success(project_view(await access.store.projects.get(project_id)))


@router.delete(
    "/{project_id}",
    summary="Delete a project and everything it owns",
    response_model=Success[ProjectModel],
    responses=documented(InvalidUUID, ProjectNotFound, Conflict, StorageUnavailable),
)
async def delete_project(access: Admin, project_id: ProjectId) -> Response:
    access.only_own(project_id)
    project = await access.store.projects.get(project_id)
    await access.app.remover.project(project_id)
    return success(project_view(project))


def language_of(project: Project) -> str:
    return project.config.get("language") or DEFAULT_LANGUAGE


def project_view(project: Project) -> dict[str, Any]:
    """Of its `config`, what clients may choose."""
    chosen = {name: project.config.get(name) for name in ProjectConfig.model_fields}
    if chosen["context"]:
        chosen["context"] = ContextChoice.model_validate(chosen["context"]).model_dump()
    return {
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "language": language_of(project),
        "config": chosen,
        "created_at": project.created_at,
        "updated_at": project.updated_at,
    }
