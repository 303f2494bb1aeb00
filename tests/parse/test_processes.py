"""The processes that parse: started late, used again, replaced in time, and never left behind."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files.every import SENTENCES, every_format, long_pdf, numbered_sentence

from whence.errors import UnreadableDocument
from whence.parse import Limits, Parsed, Parser
from whence.parse.parsed import MEGABYTE

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SERVER = """
import asyncio, sys
from pathlib import Path
from whence.parse import Parser

async def main():
    async with Parser() as parser:
        await parser.parse(Path(sys.argv[1]), name="short.pdf")
        print(parser._idle[0]._process.pid, flush=True)
        await parser.parse(Path(sys.argv[2]), name="long.pdf")

asyncio.run(main())
"""


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.pdf"
    path.write_bytes(every_format()[0].content)
    return path


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.pdf"
    path.write_bytes(long_pdf(3000))
    return path


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - other processes set no events
        await asyncio.sleep(0.02)
    return condition()


def children() -> set[int]:
    """The processes that parse for this one."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], check=True, capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return {
        int(pid) for pid, parent, args in rows if int(parent) == os.getpid() and "whence.parse.child" in args
    }


def open_files(pid: int) -> set[str]:
    return {str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()}


async def begun(parser: Parser, path: Path) -> asyncio.Task[Parsed]:
    """Parsing that the one process is in the midst of."""
    (child,) = parser._idle
    parsing = asyncio.create_task(parser.parse(path, name=path.name))
    assert await eventually(child._at_work.locked)
    return parsing


async def test_texts_need_no_process(tmp_path: Path) -> None:
    async with Parser() as parser:
        (tmp_path / "a.txt").write_text("Hello", encoding="utf-8")
        assert (await parser.parse(tmp_path / "a.txt", name="a.txt")).text == "Hello"
        assert children() == set()


async def test_one_process_parses_many_documents(short: Path) -> None:
    async with Parser() as parser:
        await parser.parse(short, name="a.pdf")
        (first,) = children()
        await asyncio.gather(*(parser.parse(short, name="a.pdf") for _ in range(20)))
        assert children() == {first}
    assert children() == set()


async def test_several_at_once(short: Path) -> None:
    async with Parser(Limits(processes=2)) as parser:
        found = await asyncio.gather(*(parser.parse(short, name="a.pdf", project=n % 2) for n in range(6)))
        assert len(children()) == 2
        assert len({one.text for one in found}) == 1


async def test_a_process_is_replaced_in_time(short: Path) -> None:
    async with Parser(Limits(documents=3)) as parser:
        seen = []
        for _ in range(6):
            await parser.parse(short, name="a.pdf")
            seen.append(children())
    assert seen[0] == seen[1] != seen[3] == seen[4]
    assert seen[2] == seen[5] == set()


async def test_an_idle_process_ends(short: Path) -> None:
    async with Parser(Limits(idle_seconds=0.1)) as parser:
        await parser.parse(short, name="a.pdf")
        assert await eventually(lambda: not children())
        assert (await parser.parse(short, name="a.pdf")).pages


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
async def test_a_process_that_dies(short: Path, long: Path, number: signal.Signals) -> None:
    async with Parser() as parser:
        await parser.parse(short, name="a.pdf")
        (pid,) = children()
        parsing = await begun(parser, long)
        os.kill(pid, number)
        with pytest.raises(UnreadableDocument) as error:
            await parsing
        assert error.value.details == {"reason": "crashed", "file_name": "long.pdf"}
        assert error.value.message == "The document made its reader crash"
        assert SENTENCES[0] in (await parser.parse(short, name="a.pdf")).text


async def test_a_process_that_died_in_between(short: Path) -> None:
    async with Parser() as parser:
        await parser.parse(short, name="a.pdf")
        (pid,) = children()
        os.kill(pid, signal.SIGKILL)
        assert await eventually(lambda: not running(pid))
        assert (await parser.parse(short, name="a.pdf")).pages


async def test_cancelling_kills_it(short: Path, long: Path) -> None:
    async with Parser() as parser:
        await parser.parse(short, name="a.pdf")
        (pid,) = children()
        parsing = await begun(parser, long)
        parsing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await parsing
        assert not running(pid)
        assert (await parser.parse(short, name="a.pdf")).pages


async def test_closing_amid_a_document_lets_it_end(short: Path) -> None:
    parser = Parser()
    parsing = asyncio.create_task(parser.parse(short, name="a.pdf"))
    await asyncio.sleep(0.05)
    await parser.close()
    assert (await parsing).pages
    assert children() == set()


async def test_it_dies_with_the_server(short: Path, long: Path) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, short, long], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with server.stdout:
        pid = int(await asyncio.to_thread(server.stdout.readline))
        await asyncio.sleep(0.3)
        assert running(pid)
        server.kill()
        server.wait()
        assert await eventually(lambda: not running(pid))


@linux
async def test_what_a_process_is_given(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_DATABASE_URL", "postgresql://u:hunter2@h")
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.set_inheritable(True)
        async with Parser(Limits(memory=300 * MEGABYTE)) as parser:
            await parser.parse(short, name="a.pdf")
            (pid,) = children()
            process = Path(f"/proc/{pid}")
            assert b"WHENCE" not in (process / "environ").read_bytes()
            # It has sockets of its own, within itself.
            assert not {
                file for file in open_files(pid) & open_files(os.getpid()) if file.startswith("socket:")
            }
            limits = {
                line[:26].strip(): line[26:47].strip()
                for line in (process / "limits").read_text().splitlines()
            }
            assert limits["Max core file size"] == "0"
            assert limits["Max data size"] == str(300 * MEGABYTE)


async def test_the_server_never_loads_foreign_parsers() -> None:
    code = "import sys, whence.parse; assert not {'kreuzberg', 'email.message'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@linux
async def test_large_documents_in_little_memory(tmp_path: Path) -> None:
    """A thousand pages, and 50 MB of text, with the limits that are the default."""
    code = """if True:
        import asyncio, re, resource, sys
        from pathlib import Path
        from whence.parse import Parser

        async def main():
            async with Parser() as parser:
                parsed = await parser.parse(Path(sys.argv[1]), name=sys.argv[1])
                print(len(parsed.text), len(parsed.pages))

        asyncio.run(main())
        # Not `getrusage` of itself: that begins with what the process held that started this one.
        print(int(re.findall(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[0]) // 1024)
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
    """
    line = SENTENCES[2] + "\n"
    text = line * (50 * MEGABYTE // len(line.encode()))
    (tmp_path / "a.pdf").write_bytes(long_pdf(1000))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    for name, length, pages in (("a.pdf", 100_000, 1000), ("a.txt", len(text), 0)):
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / name], check=True, capture_output=True, text=True
        )
        found, found_pages, server, child = map(int, done.stdout.split())
        assert found >= length
        assert found_pages == pages
        assert server < 250
        assert child < 300


async def test_a_thousand_pages_are_all_where_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(long_pdf(1000))
    async with Parser() as parser:
        parsed = await parser.parse(tmp_path / "a.pdf", name="a.pdf")
    assert len(parsed.pages) == 1000
    for page in parsed.pages:
        assert parsed.text[page.start : page.end].startswith(f"# Chapter {page.number}\n")
        assert numbered_sentence(page.number) in parsed.text[page.start : page.end]
