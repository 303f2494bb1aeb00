"""Whether the server is alive, and whether it can work."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from whence import __version__
from whence.api.health import Health, Readiness
from whence.app import App
from whence.web.access import app_of
from whence.web.responses import respond
from whence.web.routes import operation_id

router = APIRouter(tags=["health"], generate_unique_id_function=operation_id)


@router.head("/healthz", include_in_schema=False)  # some probes use HEAD
@router.get("/healthz", name="health", summary="Whether the process is alive", response_model=Health)
async def healthz() -> Response:
    return respond(Health(status="ok", version=__version__))


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    name="readiness",
    summary="Whether database, migrations and worker are there",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Something is missing; the fields say what."}},
)
async def readyz(app: Annotated[App, Depends(app_of)]) -> Response:
    """The database answers, its schema is current, and a worker gave a sign within 30 seconds. No key is needed."""
    report = await app.readiness()
    return respond(Readiness.model_validate(report), 503 if report["status"] == "not ready" else 200)
