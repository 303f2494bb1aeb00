"""Reads one request per line and answers with one line; the text goes to a file that the server opened.

It first gives up access to the network and to all other files (`whence.parse.sandbox`).

python -m whence.parse.child INPUT_FOLDER WORK_FOLDER TEXT_FILE MEMORY CPU_SECONDS TEXT_BYTES
"""

import ctypes
import json
import os
import queue
import resource
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from whence.parse.child.readers import read
from whence.parse.parsed import MEGABYTE, Parsed, Refused, in_megabytes
from whence.parse.sandbox import confine

_PR_SET_PDEATHSIG = 1
_NICENESS = 5
_PIECE = MEGABYTE
_LARGEST_LIBRARY = 32 * MEGABYTE  # kreuzberg unpacks pdfium
_KILOBYTE = 1024


def main() -> None:
    inputs, work = map(Path, sys.argv[1:3])
    text_file, memory, cpu_seconds, text_bytes = (int(argument) for argument in sys.argv[3:])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps output of foreign code out of the answers
    if sys.platform == "linux":  # the thread that reads requests may starve while foreign code is busy
        ctypes.CDLL(None).prctl(
            _PR_SET_PDEATHSIG, signal.SIGKILL
        )  # the kernel ends this process with the server
    _limit(memory, text_bytes)
    confine(inputs, work=work)  # before another thread starts
    for request in iter(_requests().get, None):
        _allow(cpu_seconds)
        answer = _answer(request, text_file, memory=memory, text_bytes=text_bytes)
        answers.write(json.dumps(answer | {"memory": _memory()}).encode() + b"\n")
        answers.flush()


def _answer(request: dict[str, Any], text_file: int, *, memory: int, text_bytes: int) -> dict[str, Any]:
    try:
        if "pages" in request:
            return _look(request, text_file)
        parsed = read(
            Path(request["path"]),
            request["mime"],
            charset=request["charset"],
            memory=memory,
            pages=request["most_pages"],
        )
        size = _write(text_file, parsed, text_bytes)
    except Refused as exc:
        return {"reason": exc.reason, "message": exc.message, "cause": exc.cause}
    except MemoryError:
        message = f"Reading it takes more than {in_megabytes(memory)} of memory"
        return {"reason": "out_of_memory", "message": message, "cause": ""}
    pages = [(page.number, page.start, page.end) for page in parsed.pages]
    dated_at = parsed.dated_at and parsed.dated_at.isoformat()
    return {"mime": parsed.mime, "bytes": size, "pages": pages, "dated_at": dated_at}


def _look(request: dict[str, Any], file: int) -> dict[str, Any]:
    """Answers a question about pages."""
    from whence.parse.child.pages import LOOKS  # loads numpy, which parsing does not need

    answer, content = LOOKS[request["pages"]](Path(request["path"]), **request["with"])
    os.ftruncate(file, 0)
    os.pwrite(file, content, 0)
    return answer | {"bytes": len(content)}


def _write(file: int, parsed: Parsed, text_bytes: int) -> int:
    """Writes piece by piece: a second copy of the whole text may not fit in memory."""
    os.ftruncate(file, 0)
    size = 0
    for start in range(0, len(parsed.text), _PIECE):
        # Lone surrogates cannot be stored.
        piece = parsed.text[start : start + _PIECE].encode(errors="replace")
        if size + len(piece) > text_bytes:
            raise Refused("too_large", f"The text is longer than {in_megabytes(text_bytes)}")
        while piece:
            written = os.pwrite(file, piece, size)
            size, piece = size + written, piece[written:]
    return size


def _requests() -> "queue.SimpleQueue[dict[str, Any]]":
    """A thread reads the requests and exits at once when the server is gone, even during a document."""
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def wait_for_lines() -> None:
        for line in sys.stdin.buffer:
            requests.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=wait_for_lines, daemon=True).start()
    return requests


def _limit(memory: int, text_bytes: int) -> None:
    os.nice(_NICENESS)  # the server's requests come first
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        # Not RLIMIT_AS, which would also count the mapped files of libraries.
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, max(text_bytes, _LARGEST_LIBRARY) + MEGABYTE),
    ):
        resource.setrlimit(kind, (most, most))


def _allow(cpu_seconds: int) -> None:
    """Allows this much CPU time from now on. The limit counts the whole process, so time already used is added."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


def _memory() -> int:
    """Peak memory in bytes."""
    # On Linux, `ru_maxrss` includes the memory that the server had when it started this process.
    with suppress(OSError), Path("/proc/self/status").open(encoding="ascii") as lines:
        return next(int(line.split()[1]) * _KILOBYTE for line in lines if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
