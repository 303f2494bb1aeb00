"""Previews how a text would be chunked. Stores nothing."""

import asyncio
from functools import partial

from whence.api.chunking import MOST_SHOWN, ChunkingFields, PreviewAnswer, PreviewForm, PreviewRequest
from whence.chunk import strategy
from whence.errors import BadInput, UnreadableDocument
from whence.parse import is_code
from whence.web.access import Access, Reader
from whence.web.bodies import FILE_SCHEMA, Sent, SentBody, declared_body
from whence.web.responses import Enveloped, success
from whence.web.routes import api_router, documented

router = api_router("chunking")

_FILE = {**FILE_SCHEMA, "required": True, "description": "A file of any kind that can be ingested."}


@router.post(
    "/chunking/preview",
    responses=documented(UnreadableDocument),
    openapi_extra=declared_body(PreviewRequest, PreviewForm, file=_FILE),
)
async def preview_chunks(access: Reader, sent: Sent) -> Enveloped[PreviewAnswer]:
    """Preview how a text or file would be chunked.

    Stores nothing. A text has at most 1 MB, a file 16 MB and 500 pages, read within 20 seconds. [Chunking](chunking.md) compares
    the strategies.

    `text` is always `document[startOffset:endOffset]`, in Unicode code points.
    """
    if sent.is_form:
        text, code, fields = await _read_form(sent, access)
    else:
        body = await sent.read(PreviewRequest)
        text, code, fields = body.text, False, body
    chunking = fields.chunking()
    chosen = strategy(chunking.strategy, code=code)
    preview = partial(PreviewAnswer.preview, text, chosen, chunking.options, most=MOST_SHOWN)
    return success(await asyncio.to_thread(preview))


async def _read_form(sent: SentBody, access: Access) -> tuple[str, bool, ChunkingFields]:
    """The text of the file, whether it is source code, and the form's other fields."""
    async with sent.form(access.app.inbox) as form:
        if len(form.files) != 1:
            raise BadInput(
                "file is required",
                details={"field": "file", "provided": len(form.files), "expected": "one file"},
            )
        fields = form.read(PreviewForm)
        upload = form.files[0]
        parsed = await access.app.previewer.parse(
            upload.file.path, name=upload.name, mime=upload.content_type, project=access.caller
        )
        return parsed.text, is_code(parsed.mime), fields
