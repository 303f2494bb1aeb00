"""`--help`: instant, complete, and true about exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from whence import __version__
from whence.cli import COMMANDS

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

HEAVY = (
    "fastapi",
    "httpx",
    "numpy",
    "obstore",
    "onnxruntime",
    "orjson",
    "procrastinate",
    "psycopg",
    "pydantic",
    "rich",
    "starlette",
    "uvicorn",
    "uvloop",
    "whence.app",
    "whence.store",
    "whence.web",
)
NOT_FOR_SEARCH = (
    "attr",
    "croniter",
    "dateutil",
    "fastapi",
    "httpcore",
    "httpx",
    "jsonschema_rs",
    "procrastinate",
    "pygments",
    "rich",
    "starlette",
    "uvicorn",
    "whence.api.chat",
    "whence.chat",
    "whence.conversations",
    "whence.evidence",
    "whence.extract",
    "whence.fetch",
    "whence.ingest",
    "whence.jobs",
    "whence.lightrag",
    "whence.matching",
    "whence.offline",
    "whence.web",
)
"""Takes half of the time of all imports."""
SCRIPT = """
import json, sys
sys.argv = ["whence", *json.loads(sys.argv[1])]
from whence.cli import main
try:
    main()
except SystemExit as exc:
    assert not exc.code, exc.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
GROUPS = ("projects", "keys", "db", "objects", "documents", "jobs")


def test_help(fresh: "Installation") -> None:
    said = fresh.run("--help").stdout
    for command in COMMANDS:
        assert f"\n  {command} " in said
    codes = ("0 success", "1 failure", "2 wrong usage", "3 cannot start", "130 interrupted")
    for code in (*codes, "143 terminated"):
        assert code in " ".join(said.split())
    assert not fresh.data_dir.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = _loaded(arguments, env=os.environ)
    assert not _among(loaded, HEAVY)
    assert "asyncio" not in loaded


def test_search_loads_only_what_it_needs(hosted: "Installation") -> None:
    loaded = _loaded(["search", "anything"], env=hosted.environment({"WHENCE_EMBEDDER": "hash"}))
    assert "whence.search" in loaded
    assert not _among(loaded, NOT_FOR_SEARCH)


def _loaded(arguments: list[str], *, env: Mapping[str, str]) -> list[str]:
    """The modules that a command has loaded at its end."""
    run = [sys.executable, "-c", SCRIPT, json.dumps(arguments)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
    assert done.stdout
    loaded: list[str] = json.loads(done.stderr)
    return loaded


def _among(loaded: list[str], unwanted: tuple[str, ...]) -> list[str]:
    return [
        name for name in loaded if name in unwanted or name.startswith(tuple(f"{one}." for one in unwanted))
    ]


def test_version(fresh: "Installation") -> None:
    assert fresh.run("--version").stdout == f"whence, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["--nonsense"],
        ["serve", "--nonsense"],
        ["serve", "--port=abc"],
        ["serve", "--port=65536"],
        ["serve", "--workers=0"],
        ["projects", "create"],
        ["backup"],
        ["restore", "/no/such/file"],
        *([group, "nonsense"] for group in GROUPS),
    ],
)
def test_wrong_usage(fresh: "Installation", arguments: list[str]) -> None:
    done = fresh.run(*arguments, code=2)
    assert "Usage: whence" in done.stderr
    assert not done.stdout
    assert not fresh.data_dir.exists()
