"""The state of the server."""

import sys

from whence import __version__
from whence.api.status import FindingModel, ServerStatus
from whence.errors import Forbidden
from whence.findings import Finding, attempt, examine_database, examine_services, shown_settings
from whence.web.access import Admin
from whence.web.responses import Enveloped, success
from whence.web.routes import api_router

router = api_router("health")
_CHAT_MODEL_SECONDS = 5


@router.get("/status")
async def get_status(access: Admin) -> Enveloped[ServerStatus]:
    """Get the findings of `whence doctor`: versions, database, storage, embedder, models, settings.

    Needs a key for all projects. It sends a request to each model, so it may take seconds. The chat model has 5 seconds to
    answer.
    """
    if access.project_id is not None:
        raise Forbidden("A key of one project cannot see the server's settings")
    app = access.app
    findings = [
        Finding("Python", "ok", sys.version.split()[0]),
        *await examine_services(app.settings, chat_model_seconds=_CHAT_MODEL_SECONDS),
        *await attempt("Database", examine_database(app.settings, app.dsn, app.store)),
        *(
            Finding("Background work", "wrong", f"{one.name} failed {one.times} times: {one.reason}")
            for one in app.background.failing
        ),
    ]
    shown = [FindingModel.of(one) for one in findings]
    return success(ServerStatus(version=__version__, findings=shown, settings=shown_settings(app.settings)))
