"""Commands as the installed executable. Other tests fork them from a process that has every module loaded already."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation


def test_every_command_loads_what_it_needs(hosted: "Installation") -> None:
    hosted.forks = None  # the executable
    hosted.env["WHENCE_EMBEDDER"] = "hash"
    file = hosted.folder / "herons.md"
    file.write_text("A grey heron waits in the pond.")
    assert "1 ingested" in hosted.run("ingest", str(file)).stdout
    assert "herons.md" in hosted.run("documents", "list").stdout
    assert "herons.md" in hosted.run("search", "grey heron").stdout
    assert "heron" in hosted.run("ask", "What waits in the pond?").stdout
    assert "heron" in hosted.run("chunk", str(file)).stdout
    assert "default" in hosted.run("projects", "list").stdout
    assert "Database" in hosted.run("doctor").stdout
    assert hosted.json("db", "status")["state"] == "current"
    assert hosted.json("keys", "list") == []
    assert hosted.json("objects", "list") == []
    hosted.run("backup", str(hosted.folder / "backup.tar"))
    assert (hosted.folder / "backup.tar").stat().st_size > 0
