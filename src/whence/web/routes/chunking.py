"""How a text would be chunked, storing nothing."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response

from whence.app import App
from whence.chunk import preview, strategy
from whence.errors import BadInput, InvalidParameter, PayloadTooLarge, UnreadableDocument
from whence.parse import is_code
from whence.web.access import reader
from whence.web.answer import success
from whence.web.chunking import SCHEMA, chunking_of
from whence.web.fields import Fields
from whence.web.inputs import json_content
from whence.web.models import Success
from whence.web.routes import Direct, api_router, documented
from whence.web.search_models import PreviewAnswer
from whence.web.uploads import is_form, uploaded

router = api_router("chunking", route_class=Direct)

_TEXT = {"type": "string", "description": "The text to cut."}
_FILE = {"type": "string", "format": "binary", "description": "A file of any kind that can be ingested."}
_FORM = {
    "chunkingStrategy": {"type": "string", "enum": ["character", "sentence", "paragraph"]},
    "chunkingOptions": {"type": "string", "description": "The options as JSON text."},
}
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"type": "object", "properties": {"text": _TEXT, **SCHEMA}, "required": ["text"]},
            "example": {"text": "One. Two.", "chunkingStrategy": "sentence"},
        },
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"file": _FILE, **_FORM}, "required": ["file"]}
        },
    },
}


@router.post(
    "/chunking/preview",
    summary="How a text or file would be chunked",
    response_model=Success[PreviewAnswer],
    responses=documented(BadInput, InvalidParameter, PayloadTooLarge, UnreadableDocument),
    openapi_extra={"requestBody": _BODY},
)
async def preview_chunks(request: Request) -> Response:
    access = await reader(request)
    if is_form(request):
        text, code, fields = await _uploaded(request, access.app)
    else:
        (text, fields), code = _sent(await json_content(request)), False
    chunking = chunking_of(fields)
    chosen = strategy(chunking.strategy, code=code)
    found = await asyncio.to_thread(preview, text, chosen, chunking.options)
    return success(found.as_json())


def _sent(body: Any) -> tuple[str, Mapping[str, Any]]:
    Fields(body).require_known("text", *_FORM)
    text = body.get("text")
    if not isinstance(text, str):
        raise BadInput(
            "text is required", details={"field": "text", "provided": text, "expected": "a string"}
        )
    return text, body


async def _uploaded(request: Request, app: App) -> tuple[str, bool, Mapping[str, Any]]:
    """The text of a file of any kind that can be ingested, whether it is source code, and the fields beside it."""
    async with uploaded(request, app.inbox) as form:
        if len(form.files) != 1:
            raise BadInput(
                "file is required",
                details={"field": "file", "provided": len(form.files), "expected": "one file"},
            )
        Fields(form.fields).require_known("file", *_FORM)
        upload = form.files[0]
        parsed = await app.parser.parse(upload.file.path, name=upload.name, mime=upload.content_type)
        return parsed.text, is_code(parsed.mime), form.fields
