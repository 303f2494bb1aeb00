"""Is it alive, and can it work."""

from fastapi import APIRouter, Request, Response

from whence import __version__
from whence.web.access import app_of
from whence.web.answer import JSON
from whence.web.models import Health, Readiness

router = APIRouter(tags=["health"])


@router.head("/healthz", include_in_schema=False)  # some probes ask like this
@router.get("/healthz", summary="The process is alive", response_model=Health)
async def healthz() -> Response:
    return JSON({"status": "ok", "version": __version__})


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    summary="Database, migrations and worker are there",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Something is missing; the fields say what."}},
)
async def readyz(request: Request) -> Response:
    report = await app_of(request).readiness()
    return JSON(report, status_code=503 if report["status"] == "not ready" else 200)
