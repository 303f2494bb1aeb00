"""The server's side of one child process: starts it, sends it requests, and ends it in any case."""

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from whence.models import Page
from whence.parse import ocr
from whence.parse.parsed import MEGABYTE, Parsed, Refused, in_megabytes
from whence.settings import Settings
from whence.text.dates import read_moment

T = TypeVar("T")
Looked = tuple[dict[str, Any], bytes]

log = logging.getLogger("whence.parse")

# The child's whole environment, without secrets. A single arena keeps the allocator from holding memory per thread.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": os.defpath, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
_LAST_WORDS = 4096
_OUT_OF_MEMORY = (b"memory allocation of", b"bad_alloc", b"MemoryError", b"ut of memory")
_LONGEST_ANSWER = 64 * MEGABYTE
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for parsing documents."""

    processes: int = 2
    """Maximum number of documents parsed at once, each in its own process."""
    memory: int = 400 * MEGABYTE
    """Maximum memory of one such process, in bytes."""
    seconds: float = 300
    cpu_seconds: int = 240
    text: int = 64 * MEGABYTE
    """Maximum size of a document's text, in bytes of UTF-8."""
    pages: int | None = None
    """Maximum number of pages of one document. With it, `seconds` also limit the recognition of all scanned pages together."""
    documents: int = 200
    """A process is replaced after this many documents, so that leaks cannot build up."""
    idle_seconds: float = 60
    """An idle process ends after this many seconds."""

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            processes=settings.parse_processes,
            memory=settings.parse_memory_mb * MEGABYTE + (ocr.MEMORY if ocr.installed() else 0),
            seconds=settings.parse_seconds,
            cpu_seconds=settings.parse_cpu_seconds,
            text=settings.parse_text_mb * MEGABYTE,
        )

    @classmethod
    def of_previews(cls, settings: Settings) -> "Limits":
        return replace(
            cls.of(settings), processes=1, seconds=20, cpu_seconds=15, text=16 * MEGABYTE, pages=500
        )


class Child:
    """`ask` raises `Refused` if the document cannot be read, and kills a child that does not answer in time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._asked = 0
        self._answered = self._swollen = self._killed = False
        self._at_work = threading.Lock()
        # Unnamed files: they disappear when the last process closes them.
        self._text, self._errors = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - `end` closes them
        # The only files it can reach: its input, which is linked there, and a place for what its libraries unpack.
        self._folder = tempfile.TemporaryDirectory(prefix="whence-parse-")
        self._input, work = (Path(self._folder.name, name) for name in ("input", "work"))
        for place in (self._input, work):
            place.mkdir()
        ours = [
            str(self._input),
            str(work),
            str(self._text.fileno()),
            str(limits.memory),
            str(limits.cpu_seconds),
            str(limits.text),
        ]
        # The absolute entries, so that the child finds the same modules.
        import_path = os.pathsep.join(place for place in sys.path if Path(place).is_absolute())
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "whence.parse.child", *ours],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            pass_fds=[self._text.fileno()],
            cwd="/",
            env=_ENVIRONMENT | {"PYTHONPATH": import_path, "TMPDIR": str(work)},
            start_new_session=True,
        )
        self._requests, self._answers = (
            cast("IO[bytes]", self._process.stdin),
            cast("IO[bytes]", self._process.stdout),
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def fresh(self) -> bool:
        """Whether it can take another request: it answered, has documents left and uses at most half its memory."""
        return self._answered and not (self._killed or self._swollen) and self._asked < self._limits.documents

    async def ask(self, path: Path, *, mime: str, charset: str | None) -> Parsed:
        return await self._ask(
            path, {"mime": mime, "charset": charset, "most_pages": self._limits.pages}, self._read_parsed
        )

    async def look(self, path: Path, wanted: Mapping[str, Any]) -> Looked:
        """The answer to a question about pages (see `child.pages`): a part from JSON, and bytes."""
        return await self._ask(path, wanted, self._read_looked)

    async def _ask(self, path: Path, request: Mapping[str, Any], read: Callable[[dict[str, Any]], T]) -> T:
        self._asked, self._answered = self._asked + 1, False
        asking = asyncio.get_running_loop().run_in_executor(None, self._exchange, path, request, read)
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await asyncio.shield(asking)
        except TimeoutError:
            self._kill()
            await asking
            message = f"Reading it took longer than {self._limits.seconds:g} seconds"
            raise Refused("too_slow", message) from None
        except asyncio.CancelledError:
            self._kill()
            raise
        if isinstance(answer, Refused):
            raise answer
        return answer

    async def end(self) -> None:
        # In a thread: it continues if the waiting task is cancelled.
        await asyncio.get_running_loop().run_in_executor(None, self._end)

    def _end(self) -> None:
        with self._at_work:
            with contextlib.suppress(OSError):
                self._requests.close()
            self._reap()
            for file in (self._answers, self._text, self._errors):
                file.close()
            self._folder.cleanup()

    def _exchange(
        self, path: Path, request: Mapping[str, Any], read: Callable[[dict[str, Any]], T]
    ) -> T | Refused:
        """Runs in a thread; blocks until the child answers or dies."""
        document = self._input / f"document{path.suffix}"
        line = json.dumps({"path": str(document), **request}).encode() + b"\n"
        with self._at_work:
            if self._requests.closed:  # the caller gave up and called `end` first
                return Refused("crashed", "The document was not read")
            _link(path, document)
            answer = b""
            with contextlib.suppress(BrokenPipeError):
                self._requests.write(line)
                self._requests.flush()
                answer = self._answers.readline(_LONGEST_ANSWER)
            document.unlink()
            # A dying child may leave half a line.
            return (
                self._read_answer(json.loads(answer), read)
                if answer.endswith(b"\n")
                else self._explain_death()
            )

    def _read_answer(self, answer: dict[str, Any], read: Callable[[dict[str, Any]], T]) -> T | Refused:
        self._answered = True
        self._swollen = answer["memory"] > self._limits.memory // 2
        if "reason" in answer:
            return Refused(answer["reason"], answer["message"], cause=answer["cause"])
        self._text.seek(0)
        return read(answer)

    def _read_parsed(self, answer: dict[str, Any]) -> Parsed:
        return Parsed(
            text=self._text.read(answer["bytes"]).decode(),
            mime=answer["mime"],
            pages=tuple(Page(number=number, start=start, end=end) for number, start, end in answer["pages"]),
            dated_at=read_moment(answer["dated_at"]),
        )

    def _read_looked(self, answer: dict[str, Any]) -> Looked:
        return answer, self._text.read(answer["bytes"])

    def _explain_death(self) -> Refused:
        """The reason why the child ended without an answer, from its exit code and the end of its stderr."""
        self._reap()
        code = self._process.returncode
        size = os.fstat(self._errors.fileno()).st_size
        words = os.pread(self._errors.fileno(), _LAST_WORDS, max(size - _LAST_WORDS, 0))
        cause = f"the process ended with {code}: {words.decode(errors='replace').strip()}"
        if code == -signal.SIGXCPU:
            message = f"Reading it took more than {self._limits.cpu_seconds} seconds of computing"
            return Refused("too_slow", message, cause=cause)
        if any(sign in words for sign in _OUT_OF_MEMORY):
            message = f"Reading it takes more than {in_megabytes(self._limits.memory)} of memory"
            return Refused("out_of_memory", message, cause=cause)
        if not self._killed:
            log.warning("A document made its reader crash; %s", cause)
        return Refused("crashed", "The document made its reader crash", cause=cause)

    def _kill(self) -> None:
        # The pid cannot be reused before the process is waited for.
        if self.alive:
            self._killed = True
            self._process.kill()

    def _reap(self) -> None:
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()


def _link(path: Path, target: Path) -> None:
    """Links the file itself, or copies it from another file system."""
    try:
        target.hardlink_to(path.resolve(strict=True))
    except OSError:
        shutil.copyfile(path, target)
