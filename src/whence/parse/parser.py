"""Turns a file into its text and pages. Texts are decoded here; a child process reads all other formats."""

import asyncio
import gzip
import logging
import re
import zlib
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Self

from whence.errors import UnreadableDocument
from whence.models import Page, is_blank
from whence.parse import ocr
from whence.parse.dates import front_matter_date
from whence.parse.decode import decode
from whence.parse.detect import (
    GZIP,
    HEAD,
    IMAGES,
    MARKDOWN,
    OLE,
    PDF,
    READ_BY_CHILD,
    charset_of,
    detect,
    readable,
)
from whence.parse.parsed import MEGABYTE, Parsed, Refused, in_megabytes, join_pages
from whence.parse.process import Child, Limits, Looked
from whence.parse.shown import ShownPage
from whence.parse.turns import Turns

log = logging.getLogger("whence.parse")

# The name of a stream in password-protected Office documents, as their directory encodes it.
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLD_OFFICE = "This is an old Office format; save it as DOCX, PPTX or XLSX and try again"
# UTF-32 takes four bytes where UTF-8 takes one.
_WIDEST = 4
_GZIP_ENDING = re.compile(r"\.gz(?:ip)?\Z", re.IGNORECASE)


class Parser:
    """Use it as an async context manager, so that no child process outlives it. Processes start on demand."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._turns = Turns(self._limits.processes)
        self._idle: list[Child] = []
        self._closed = False
        self._rest: asyncio.TimerHandle | None = None
        self._retiring: asyncio.Future[list[None]] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the idle processes; a busy one ends after its document."""
        self._closed = True
        if self._rest is not None:
            self._rest.cancel()
        while self._idle:
            await self._idle.pop().end()
        if self._retiring is not None:
            await self._retiring

    async def parse(
        self, path: Path, *, name: str, mime: str | None = None, project: Hashable = None
    ) -> Parsed:
        """`name` is the document's name; `mime` is the sender's Content-Type, a weak hint. Projects share the processes.

        Raises `UnreadableDocument`, and `OSError` if there is no such file.
        """
        try:
            found, charset = await asyncio.to_thread(_look, path, name, mime), charset_of(mime)
            if found == GZIP:
                return await self._parse_packed(path, name, project)
            if found in IMAGES:
                return await self._recognise(path, await self._read_picture(path, found), project)
            if found in READ_BY_CHILD:
                async with self._lend_child(project) as child:
                    parsed = await child.ask(path, mime=found, charset=charset)
                return await self._recognise(path, parsed, project) if found == PDF else parsed
            return await asyncio.to_thread(_read_text, path, found, charset, self._limits.text)
        except Refused as exc:
            log.info("A document cannot be read: %s; %s", exc.reason, exc.cause or exc.message)
            details = {"reason": exc.reason, "file_name": name}
            raise UnreadableDocument(exc.message, details=details) from exc

    async def _parse_packed(self, path: Path, name: str, project: Hashable) -> Parsed:
        """Reads the file in a gzip file, but not another gzip file in it."""
        with NamedTemporaryFile(prefix="whence-unpacked-") as file:
            await asyncio.to_thread(_unpack, path, file, self._limits.text * _WIDEST)
            inner = Path(file.name)
            if await asyncio.to_thread(_look, inner, _GZIP_ENDING.sub("", name), None) == GZIP:
                raise Refused("unsupported", "A gzip file in a gzip file is not read")
            parsed = await self.parse(inner, name=_GZIP_ENDING.sub("", name), project=project)
        return replace(parsed, mime=GZIP)

    async def shown(self, path: Path, numbers: Sequence[int]) -> dict[int, ShownPage]:
        """These pages of a PDF; missing ones are left out. Like the next two methods, raises `Refused`."""
        answer, content = await self._look(path, "shown", numbers=list(numbers))
        found = {}
        for head in answer["pages"]:
            page, content = ShownPage.unpacked(head, content)
            found[page.number] = page
        return found

    async def scan(
        self, path: Path, number: int, *, mime: str, project: Hashable = None
    ) -> tuple[ShownPage, str, float]:
        """A page without text, recognised: its words, its text, and the confidence from 0 to 1."""
        answer, content = await self._look(path, "scan", project, number=number, mime=mime)
        page, _ = ShownPage.unpacked(answer["page"], content)
        return page, answer["text"], answer["confidence"]

    async def _read_picture(self, path: Path, mime: str) -> Parsed:
        """A picture before its text is recognised."""
        count = len(await self.sizes(path, mime=mime))
        if self._limits.pages is not None and count > self._limits.pages:
            raise Refused("too_large", f"It has more than {self._limits.pages} pages")
        pages = tuple(Page(number=number, start=0, end=0) for number in range(1, count + 1))
        return Parsed(text="", mime=mime, pages=pages)

    async def _recognise(self, path: Path, parsed: Parsed, project: Hashable) -> Parsed:
        """The document with the text of the pages that have none of their own. Each page has the time of a document, unless
        the number of pages is limited."""
        texts = {page.number: parsed.text[page.start : page.end] for page in parsed.pages}
        scanned = [number for number, text in texts.items() if not text]
        if not scanned or not ocr.installed():
            return parsed
        sure: dict[int, float] = {}
        try:
            async with asyncio.timeout(self._limits.seconds if self._limits.pages else None):
                for number in scanned:
                    _, texts[number], confidence = await self.scan(
                        path, number, mime=parsed.mime, project=project
                    )
                    sure |= {number: round(confidence, 3)} if texts[number] else {}
        except TimeoutError as exc:
            raise Refused(
                "too_slow", f"Reading it took longer than {self._limits.seconds:g} seconds"
            ) from exc
        text, pages = join_pages(texts.values())
        if not text:
            raise Refused("no_text")
        known = tuple(replace(page, confidence=sure.get(page.number)) for page in pages)
        return replace(parsed, text=text, pages=known)

    async def sizes(self, path: Path, *, mime: str) -> list[tuple[float, float, int]]:
        """Width, height and rotation of every page, as it is shown."""
        answer, _ = await self._look(path, "sizes", mime=mime)
        return [(width, height, rotation) for width, height, rotation in answer["sizes"]]

    async def image(self, path: Path, number: int, width: int, *, mime: str) -> bytes:
        """A page as PNG."""
        _, content = await self._look(path, "image", number=number, width=width, mime=mime)
        return content

    async def _look(self, path: Path, question: str, project: Hashable = None, **options: Any) -> Looked:
        async with self._lend_child(project) as child:
            return await child.look(path, {"pages": question, "with": options})

    @asynccontextmanager
    async def _lend_child(self, project: Hashable = None) -> AsyncIterator[Child]:
        async with self._turns.turn(project):
            child = await self._free_child()
            try:
                yield child
            finally:
                if child.fresh and not self._closed:
                    self._keep(child)
                else:
                    await child.end()

    async def _free_child(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            await child.end()
        return Child(self._limits)

    def _keep(self, child: Child) -> None:
        self._idle.append(child)
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(self._limits.idle_seconds, self._retire)

    def _retire(self) -> None:
        idle, self._idle = self._idle, []
        self._retiring = asyncio.gather(*(child.end() for child in idle))


def _look(path: Path, name: str, declared: str | None) -> str:
    with path.open("rb") as file:
        head = file.read(HEAD)
        if not head:
            raise Refused("empty", "The file is empty")
        found = detect(name, head, declared=declared)
        if found == OLE:
            file.seek(0)
            if any(_ENCRYPTED_PACKAGE in block for block in iter(lambda: file.read(MEGABYTE), b"")):
                raise Refused("encrypted")
            raise Refused("unsupported", _OLD_OFFICE)
    if found in IMAGES and not ocr.installed():
        raise Refused("unsupported", f"This is a picture; {ocr.HINT}")
    if not readable(found):
        raise Refused("unsupported", f"Files of this kind cannot be read: {found}")
    return found


def _unpack(path: Path, target: IO[bytes], most: int) -> None:
    size = 0
    try:
        with gzip.open(path) as packed:
            while block := packed.read(MEGABYTE):
                size += len(block)
                if size > most:
                    raise Refused("too_large", f"Unpacked, the file is larger than {in_megabytes(most)}")
                target.write(block)
    except (gzip.BadGzipFile, zlib.error, EOFError) as exc:
        raise Refused("corrupt", cause=f"{type(exc).__name__}: {exc}") from exc
    target.flush()


def _read_text(path: Path, mime: str, charset: str | None, most: int) -> Parsed:
    too_large = Refused("too_large", f"The text is longer than {in_megabytes(most)}")
    if path.stat().st_size > most * _WIDEST:
        raise too_large
    text = decode(path.read_bytes(), said=charset)
    # Encode only if the limit may be exceeded: the bytes take as much memory again.
    if len(text) > most // _WIDEST and len(text.encode()) > most:
        raise too_large
    if is_blank(text):
        raise Refused("empty", "There is nothing but white space in the file")
    return Parsed(text=text, mime=mime, dated_at=front_matter_date(text) if mime == MARKDOWN else None)
