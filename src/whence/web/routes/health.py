"""Whether the server is alive, and whether it can work."""

from typing import Annotated

from fastapi import APIRouter, Depends

from whence import __version__
from whence.api.health import Health, Readiness
from whence.app import App
from whence.web.access import app_of
from whence.web.responses import Bare, respond
from whence.web.routes import Described, operation_id

router = APIRouter(tags=["health"], route_class=Described, generate_unique_id_function=operation_id)


@router.head("/healthz", include_in_schema=False)  # some probes use HEAD
@router.get("/healthz")
async def health() -> Bare[Health]:
    """Whether the process is alive."""
    return respond(Health(status="ok", version=__version__))


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    responses={503: {"model": Readiness, "description": "Something is missing; the fields say what."}},
)
async def readiness(app: Annotated[App, Depends(app_of)]) -> Bare[Readiness]:
    """Whether database, migrations and worker are there.

    The database answers, its schema is current, and a worker gave a sign within 30 seconds. No key is needed.
    """
    report = await app.readiness()
    return respond(Readiness.model_validate(report), 503 if report["status"] == "not ready" else 200)
