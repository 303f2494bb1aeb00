"""`whence serve` on the embedded database: it starts from nothing, ends cleanly, and outlives being killed.

Tests about how the process starts and ends run the executable.
"""

import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.chat_endpoint import ChatEndpoint
from tests.loopback import Request

from whence.models import DEFAULT_PROJECT_ID
from whence.web.serve import _listen, share_port

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, PostgresOn, WaitFor


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """Python processes among the children: the servers, not the database."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(OSError):  # it has ended meanwhile
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def connections(pid: int, port: int) -> int:
    """Number of connections to the port that a process has accepted."""
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "01"}
    wanted, found = {f"socket:[{inode}]" for inode in inodes}, 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            found += str(link.readlink()) in wanted
    return found


def test_from_nothing(fresh: "Installation", postgres_on: "PostgresOn") -> None:
    fresh.forks = None  # the executable
    serving = fresh.serve().ready()
    assert serving.get("/readyz").json() == {
        "status": "ready",
        "database": "ok",
        "migrations": "current",
        "worker": "ok",
        "background": [],
    }
    assert str(fresh.data_dir) in serving.said
    assert postgres_on(fresh.data_dir)
    assert fresh.data_dir.stat().st_mode & 0o777 == 0o700
    assert serving.end(signal.SIGTERM) == 0
    assert not postgres_on(fresh.data_dir)
    assert "Traceback" not in serving.said


def test_interrupted(embedded: "Installation", postgres_on: "PostgresOn") -> None:
    serving = embedded.serve().ready()
    assert serving.end(signal.SIGINT) == 0
    assert not postgres_on(embedded.data_dir)
    assert "Traceback" not in serving.said


@pytest.mark.parametrize("stream", [False, True])
def test_ctrl_c_ends_a_model_call(hosted: "Installation", wait_for: "WaitFor", stream: bool) -> None:
    free = threading.Event()

    def held(_: Request) -> None:
        free.wait(100)

    with ChatEndpoint(held) as model, ThreadPoolExecutor(1) as threads:
        hosted.env |= {
            "WHENCE_LLM_BASE_URL": model.url,
            "WHENCE_LLM_MODEL": "test",
            "WHENCE_EMBEDDER": "hash",
        }
        serving = hosted.serve().ready()
        url = serving.url
        text = {"text": "Wheat is a grass.", "wait": True}
        assert httpx.post(f"{url}/ingest/text", json=text, timeout=90).status_code == 200
        question = {"message": "What is wheat?", "stream": stream, "projectId": str(DEFAULT_PROJECT_ID)}
        asked = threads.submit(httpx.post, f"{url}/chat", json=question, timeout=90)
        # The extraction of the text waits for the model, too.
        wait_for(
            lambda: any("What is wheat?" in str(sent.body) for sent in model.requests),
            "the model to be asked",
        )
        try:
            assert serving.end(signal.SIGINT) == 0
        finally:
            free.set()
    assert "SERVER_STOPPING" in asked.result().text
    assert "Stopping: waiting for 1 requests (POST /chat for " in serving.said
    assert "Traceback" not in serving.said


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_starts(
    fresh: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor", sign: signal.Signals
) -> None:
    fresh.forks = None  # the executable
    serving = fresh.serve()
    wait_for((fresh.data_dir / "postgres.lock").exists, "the start to begin")
    assert serving.end(sign) != 0
    wait_for(lambda: not postgres_on(fresh.data_dir), "the database to end")
    assert "Traceback" not in serving.said
    fresh.run("projects", "list")


def test_killed(embedded: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor") -> None:
    serving = embedded.serve().ready()
    for number in range(3):
        created = httpx.post(f"{serving.url}/api/v1/projects", json={"name": f"project {number}"}, timeout=60)
        assert created.status_code == 201
    serving.end(signal.SIGKILL)
    wait_for(lambda: not postgres_on(embedded.data_dir), "the database to end by itself")
    again = embedded.serve().ready()
    names = [item["name"] for item in again.get("/api/v1/projects").json()["data"]["items"]]
    assert names == ["default", "project 0", "project 1", "project 2"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_database_that_was_killed_is_started_again(
    embedded: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor", workers: str
) -> None:
    serving = embedded.serve("--workers", workers).ready()
    made = httpx.post(f"{serving.url}/api/v1/projects", json={"name": "kept"}, timeout=60)
    assert made.status_code == 201
    before = set(postgres_on(embedded.data_dir))
    for pid in before:
        with suppress(ProcessLookupError):  # one that ends with the first
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: bool(set(postgres_on(embedded.data_dir)) - before), "another database")
    serving.ready()
    assert serving.get(f"/api/v1/projects/{made.json()['data']['id']}").status_code == 200
    assert "restarting it" in serving.said
    assert serving.end() == 0
    assert not postgres_on(embedded.data_dir)


def test_a_second_server_attaches_and_tells_when_the_first_goes(
    embedded: "Installation", postgres_on: "PostgresOn"
) -> None:
    owner = embedded.serve().ready()
    second = embedded.serve().ready()
    assert second.url != owner.url
    embedded.run("projects", "create", "shared")
    for serving in (owner, second):
        listed = serving.get("/api/v1/projects").json()["data"]["items"]
        assert [item["name"] for item in listed] == ["default", "shared"]

    assert owner.end() == 0
    assert not postgres_on(embedded.data_dir)
    gone = second.get("/api/v1/projects")
    assert gone.status_code == 503
    assert gone.json()["error"]["code"] == "DATABASE_UNAVAILABLE"
    not_ready = second.get("/readyz")
    assert not_ready.status_code == 503
    assert not_ready.json()["database"] == "does not answer"
    assert second.get("/healthz").status_code == 200

    assert "shared" in embedded.run("projects", "list").stdout
    assert second.end() == 0


def test_the_second_server_goes_on_when_the_first_is_back(embedded: "Installation") -> None:
    owner = embedded.serve().ready()
    second = embedded.serve().ready()
    assert owner.end() == 0
    assert second.get("/readyz").status_code == 503
    embedded.serve().ready()
    second.ready()
    assert second.get("/api/v1/projects").status_code == 200


def test_several_processes(embedded: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor") -> None:
    serving = embedded.serve("--workers=2").ready()
    workers = children(serving.process.pid)
    assert len(workers) == 2
    port = int(serving.url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        socket.create_server(("127.0.0.1", port))
    with ExitStack() as clients:
        for _ in range(100):
            clients.enter_context(socket.create_connection(("127.0.0.1", port)))
        wait_for(
            lambda: sum(connections(pid, port) for pid in workers) >= 100, "all connections to be accepted"
        )
        assert min(connections(pid, port) for pid in workers) > 20  # 50 each, by a hash of the addresses
    assert serving.end(signal.SIGTERM) == 0
    wait_for(lambda: not any(map(alive, workers)), "the processes to end")
    assert not postgres_on(embedded.data_dir)
    assert "Traceback" not in serving.said


def test_a_port_is_shared_although_somebody_has_connected() -> None:
    with _listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        for shared in share_port(listener, 3)[1:]:
            shared.close()


def test_several_processes_interrupted(embedded: "Installation", postgres_on: "PostgresOn") -> None:
    embedded.forks = None  # the executable
    serving = embedded.serve("--workers=2").ready()
    os.killpg(serving.process.pid, signal.SIGINT)  # as Ctrl-C does: all of them get it
    assert serving.process.wait(90) == 0
    assert not postgres_on(embedded.data_dir)
    assert "Traceback" not in serving.said


def test_several_processes_without_the_first(
    embedded: "Installation", postgres_on: "PostgresOn", wait_for: "WaitFor"
) -> None:
    serving = embedded.serve("--workers=2").ready()
    workers = children(serving.process.pid)
    serving.end(signal.SIGKILL)
    wait_for(lambda: not any(map(alive, workers)), f"the processes to end: {serving.said}")
    wait_for(lambda: not postgres_on(embedded.data_dir), "the database to end")


def test_a_process_of_several_is_replaced(embedded: "Installation", wait_for: "WaitFor") -> None:
    serving = embedded.serve("--workers=2").ready()
    workers = children(serving.process.pid)
    os.kill(workers[0], signal.SIGKILL)
    wait_for(
        lambda: len(set(children(serving.process.pid)) - {workers[0]}) == 2, "another process in its place"
    )
    assert serving.get("/api/v1/projects").status_code == 200
    for _ in range(10):  # each on a connection of its own: no process keeps a session of an assistant
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        listed = httpx.post(f"{serving.url}/mcp", json=asked, timeout=60).raise_for_status()
        assert listed.json()["result"]["tools"]
    assert serving.end() == 0


def test_a_port_in_use(hosted: "Installation") -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = hosted.refused("serve", f"--port={port}")
    assert message == (
        f"Cannot listen on 127.0.0.1, port {port}: address already in use. Choose another with --port."
    )


def _never_given_out() -> int:
    """A free port below those that the system gives to whoever asks for any."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


def test_two_servers_that_start_at_once_on_one_port(hosted: "Installation", wait_for: "WaitFor") -> None:
    port = _never_given_out()
    both = [hosted.serve(port=port) for _ in range(2)]
    wait_for(lambda: any(serving.process.poll() is not None for serving in both), "one to give up")
    loser, winner = sorted(both, key=lambda serving: serving.process.poll() is None)
    assert loser.process.returncode == 3
    assert "address already in use" in loser.said
    assert "Traceback" not in loser.said
    winner.ready()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70 + ".invalid"])
def test_an_address_that_is_none(hosted: "Installation", host: str) -> None:
    assert hosted.refused("serve", "--host", host).startswith(f"Cannot listen on {host}, port ")
