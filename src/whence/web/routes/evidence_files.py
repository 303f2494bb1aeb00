"""Evidence files of stored answers and of objects."""

import orjson
from fastapi import Response

from whence.api.graph import ObjectAnswer
from whence.conversations.shown import show
from whence.evidence_files import EvidenceFile, as_html, as_json, of_answer, of_object
from whence.web.access import Access, Reader
from whence.web.parameters import PathId
from whence.web.routes import TEXT, answered, api_router

router = api_router("evidence")

_HTML = answered("One HTML file, without script.", "text/html", TEXT)
_PROV = answered("PROV-JSON and Web Annotations.", "application/json", {"type": "object"})


@router.get("/answers/{answer_id}/evidence.html", response_class=Response, responses=_HTML)
async def get_answer_evidence_page(access: Reader, answer_id: PathId) -> Response:
    """Get a stored answer as one HTML file: each sentence with its quotes, and the lines of the pages highlighted."""
    return _render_page(await _load_answer(access, answer_id))


@router.get("/answers/{answer_id}/evidence.json", response_class=Response, responses=_PROV)
async def get_answer_evidence(access: Reader, answer_id: PathId) -> Response:
    """Get the sources of a stored answer in W3C formats.

    `prov` is a PROV-JSON document, `annotations` are Web Annotations with selectors for text, position and page.
    """
    return _render_data(await _load_answer(access, answer_id))


@router.get("/objects/{object_id}/evidence.html", response_class=Response, responses=_HTML)
async def get_object_evidence_page(access: Reader, object_id: PathId) -> Response:
    """Get an object as one HTML file: each property with its quotes, and the lines of the pages highlighted."""
    return _render_page(await _load_object(access, object_id))


@router.get("/objects/{object_id}/evidence.json", response_class=Response, responses=_PROV)
async def get_object_evidence(access: Reader, object_id: PathId) -> Response:
    """Get the sources of an object's properties in W3C formats."""
    return _render_data(await _load_object(access, object_id))


async def _load_answer(access: Access, answer_id: PathId) -> EvidenceFile:
    stored = await access.store.answers.get(answer_id, access.caller)
    return await of_answer(access.store, access.app.evidence, await show(access.store, stored))


async def _load_object(access: Access, object_id: PathId) -> EvidenceFile:
    found = await ObjectAnswer.load(access.store, await access.graph_object(object_id))
    return await of_object(access.store, access.app.evidence, found)


def _render_page(file: EvidenceFile) -> Response:
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    }
    return Response(
        as_html(file), media_type="text/html; charset=utf-8", headers={**headers, **_name_file(file, "html")}
    )


def _render_data(file: EvidenceFile) -> Response:
    return Response(
        orjson.dumps(as_json(file)), media_type="application/json", headers=_name_file(file, "json")
    )


def _name_file(file: EvidenceFile, ending: str) -> dict[str, str]:
    name = f"evidence-{file.kind}-{file.id}.{ending}"
    return {"Content-Disposition": f'inline; filename="{name}"', "X-Content-Type-Options": "nosniff"}
