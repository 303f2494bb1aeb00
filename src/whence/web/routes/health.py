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
    """Check that the process is alive."""
    return respond(Health(status="ok", version=__version__))


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    responses={503: {"model": Readiness, "description": "A part is missing; the fields name it."}},
)
async def readiness(app: Annotated[App, Depends(app_of)]) -> Bare[Readiness]:
    """Check database, migrations and worker.

    Ready means that the database answers, its schema is current, and a worker sent a heartbeat within 30 seconds. No key is
    needed.
    """
    report = await app.readiness()
    return respond(Readiness.model_validate(report), 503 if report["status"] == "not ready" else 200)
