"""`whence jobs`, and what `whence ingest` leaves to others when it is interrupted."""

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tests.endpoint import Endpoint, Gate, ok, slow, status

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation, WaitFor


def numbered(lines: int, *, word: str = "heron") -> str:
    return "\n\n".join(f"Line {number} is about a {word}, the {number}th of them." for number in range(lines))


def test_jobs(hosted: "Installation", tmp_path: Path) -> None:
    """A failed one is listed with its reason, shown, and runs again."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text(numbered(3))
    (folder / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    with Endpoint(default=status(401)) as endpoint:
        hosted.embed_by(endpoint.url)
        hosted.run("ingest", str(folder), code=1)
        jobs = {job["file_name"]: job for job in hosted.json("jobs", "list", "--status=failed")}
        assert jobs.keys() == {"a.txt", "b.pdf"}
        head, *lines = hosted.run("jobs", "list", "--type=document_processing").stdout.splitlines()
        assert head.split() == ["ID", "TYPE", "STATUS", "CHUNKS", "FILE", "REASON"]
        reasons = {line.split()[0]: line for line in lines}
        assert jobs["a.txt"]["error"]["message"] in reasons[jobs["a.txt"]["id"]]
        document = jobs["b.pdf"]["document_id"]
        assert [job["id"] for job in hosted.json("jobs", "list", "--document", document)] == [
            jobs["b.pdf"]["id"]
        ]
        shown = hosted.run("jobs", "show", jobs["a.txt"]["id"]).stdout
        assert f"reason    {jobs['a.txt']['error']['message']}\n" in shown
        endpoint.default = ok
        queued = hosted.run("jobs", "retry", "--all")
        assert queued.stdout == "Queued 2 jobs.\n"
        assert "whence worker" in queued.stderr
        (cancelled,) = hosted.json("jobs", "cancel", jobs["b.pdf"]["id"])
        assert cancelled["status"] == "cancelled"
        assert hosted.run("jobs", "cancel", "--all").stdout == "Cancelled 1 job.\n"
        hosted.run("jobs", "retry", jobs["a.txt"]["id"])
        hosted.run("ingest", str(folder / "a.txt"))
    assert hosted.json("jobs", "show", jobs["a.txt"]["id"])["status"] == "completed"
    assert re.search(
        r"stages +parsing [\d.]+ s, .*storing [\d.]+ s\n",
        hosted.run("jobs", "show", jobs["a.txt"]["id"]).stdout,
    )
    hosted.refused("jobs", "retry", jobs["a.txt"]["id"], code=1)


def test_what_jobs_refuses(hosted: "Installation") -> None:
    assert hosted.refused("jobs", "show", str(uuid4()), code=1) == "Job not found"
    assert "not the id of a job" in hosted.refused("jobs", "cancel", "a.txt", code=1)
    for arguments in (["cancel"], ["retry", str(uuid4()), "--all"]):
        assert "Give the ids of jobs, or --all" in hosted.run("jobs", *arguments, code=2).stderr


def test_an_interrupted_ingest_says_what_the_server_goes_on_with(
    hosted: "Installation", tmp_path: Path, wait_for: "WaitFor"
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(numbered(3, word=f"bird {number}"))
    gate = Gate()
    with Endpoint(default=gate) as endpoint:
        hosted.embed_by(endpoint.url)
        hosted.serve().ready()
        ingesting = hosted.start("ingest", str(tmp_path), "--include", "[0-9].txt")
        try:
            wait_for(lambda: len(hosted.json("jobs", "list")) == 3, "all to be in")
            ingesting.send_signal(signal.SIGINT)
            _, said = ingesting.communicate()
        finally:
            ingesting.kill()
        goes_on = "3 documents handed in and not done: the running server goes on. "
        assert f"{goes_on}Stop it with `whence jobs cancel --all --project default`.\n" in said
        assert hosted.run("jobs", "cancel", "--all", "--project", "default").stdout == "Cancelled 3 jobs.\n"
        gate.open()
    assert {job["status"] for job in hosted.json("jobs", "list")} == {"cancelled"}


def test_an_interrupted_ingest_without_a_server(
    hosted: "Installation", tmp_path: Path, wait_for: "WaitFor"
) -> None:
    (tmp_path / "long.txt").write_text(numbered(2000))
    with Endpoint(default=slow(0.4)) as endpoint:
        hosted.embed_by(endpoint.url)
        ingesting = hosted.start("ingest", str(tmp_path / "long.txt"), "--max", "100", "--min", "10")
        try:
            wait_for(lambda: bool(endpoint.requests), "embedding to begin")
            ingesting.send_signal(signal.SIGINT)
            _, said = ingesting.communicate()
        finally:
            ingesting.kill()
    waits = "1 document handed in and not done: the next `whence serve` or `whence ingest` goes on."
    assert waits in said
