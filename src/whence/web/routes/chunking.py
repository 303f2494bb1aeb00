"""How a text would be chunked, storing nothing."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from whence.chunk import preview, strategy
from whence.errors import BadInput, InvalidParameter, PayloadTooLarge
from whence.web.access import reader
from whence.web.answer import success
from whence.web.chunking import SCHEMA, chunking_of
from whence.web.inputs import json_content
from whence.web.models import PreviewAnswer, Success
from whence.web.routes import Direct, api_router, documented

router = api_router("chunking", route_class=Direct)

_TEXT = {"type": "string", "description": "The text to cut."}
_FILE = {"type": "string", "format": "binary", "description": "A text or markdown file in UTF-8."}
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
    responses=documented(BadInput, InvalidParameter, PayloadTooLarge),
    openapi_extra={"requestBody": _BODY},
)
async def preview_chunks(request: Request) -> Response:
    await reader(request)
    if request.headers["content-type"].lower().startswith("multipart/form-data"):
        text, fields = await _uploaded(request)
    else:
        text, fields = _sent(await json_content(request))
    chunking = chunking_of(fields)
    found = await asyncio.to_thread(preview, text, strategy(chunking.strategy), chunking.options)
    return success(found.as_json())


def _sent(body: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(body, Mapping):
        raise BadInput("The request body must be a JSON object", details={"provided": body})
    text = body.get("text")
    if not isinstance(text, str):
        raise BadInput(
            "text is required", details={"field": "text", "provided": text, "expected": "a string"}
        )
    return text, body


async def _uploaded(request: Request) -> tuple[str, Mapping[str, Any]]:
    try:
        async with request.form(max_files=1, max_fields=10) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadInput("file is required", details={"field": "file", "expected": "a text file"})
            content = await file.read()
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
    except HTTPException as exc:
        raise BadInput("The form cannot be read", details={"reason": exc.detail}) from exc
    try:
        return content.decode("utf-8-sig"), fields
    except UnicodeDecodeError as exc:
        raise BadInput(
            "file must be text in UTF-8",
            details={
                "field": "file",
                "provided": file.filename,
                "expected": "text in UTF-8",
                "position": exc.start,
            },
        ) from exc
