"""The web pages: one HTML document for all their addresses, and assets with a content hash in their names."""

import re
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from whence.errors import NotFound

STATIC = Path(__file__).parent.parent / "static"
PAGES = (
    "/",
    *("/documents", "/search", "/graph", "/schema", "/jobs", "/projects", "/status", "/docs"),
    *("/d/{id}", "/o/{id}", "/a/{id}", "/c/{id}"),
)
"""The addresses of the pages, as in `ui/src/pages/routes.ts`."""

_ASSET = re.compile(r"[\w-]+(\.[\w-]+)+")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FRESH = {**_HEADERS, "Cache-Control": "no-cache"}
_KEPT = {**_HEADERS, "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".map": "application/json"}

_UNBUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Whence</title>
<h1>Whence</h1>
<p>The server runs, but its web pages are not built. In the source tree, <code>make ui</code> builds them; it needs Node 20 or
newer, or network access to fetch one. A wheel from <code>make wheel</code> has them built in.</p>
<p>The API works: <a href="/openapi.json">/openapi.json</a>.</p>
</html>
"""


async def page(_request: Request) -> Response:
    """The HTML document, whose script shows the page for the address."""
    built = STATIC / "index.html"
    if not built.is_file():
        return HTMLResponse(_UNBUILT, headers=_FRESH)
    return FileResponse(built, headers=_FRESH)


def or_lost(otherwise: ASGIApp) -> ASGIApp:
    """Answers unknown addresses: browsers get a page that says so, programs get `otherwise`."""

    async def lost(scope: Scope, receive: Receive, send: Send) -> None:
        wants_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if not wants_page or scope["method"] != "GET" or scope["path"].startswith(("/api/", "/v1/")):
            await otherwise(scope, receive, send)
        else:
            answer = await page(Request(scope))
            answer.status_code = NotFound.status
            await answer(scope, receive, send)

    return lost


async def asset(request: Request) -> Response:
    """A script, a style or a picture, compressed if the browser accepts that."""
    name = request.path_params["name"]
    file = STATIC / "assets" / name
    if not _ASSET.fullmatch(name) or not file.is_file():
        raise NotFound("There is no such file", details={"route": f"GET {request.url.path}"})
    media_type = _TYPES.get(file.suffix, "application/octet-stream")
    packed = file.with_name(f"{name}.gz")
    if "gzip" in request.headers.get("accept-encoding", "") and packed.is_file():
        return FileResponse(packed, headers={**_KEPT, "Content-Encoding": "gzip"}, media_type=media_type)
    return FileResponse(file, headers=_KEPT, media_type=media_type)


router = APIRouter()
router.routes.extend(Route(path, page) for path in PAGES)
router.routes.append(Route("/assets/{name}", asset))
