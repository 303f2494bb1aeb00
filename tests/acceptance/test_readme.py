"""What README.md shows is what happens: its commands are run, and what they print is compared with what it shows."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8420"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIFFERS = re.compile(r"(?<=  )[0-9a-f]{8}-[0-9a-f-]{27}\b|\d{4}-\d\d-\d\d \d\d:\d\d")
# What differs from start to start.
_MASKS = {r"\d{4}-\d\d-\d\dT[\d:.]+Z": "<time>", r"127\.0\.0\.1:\d+": "<address>", r"data in [^)]+": "<data>"}


class Example(NamedTuple):
    command: str
    output: str


def examples() -> list[Example]:
    blocks: list[str] = _BLOCK.findall((ROOT / "README.md").read_text())
    return [_example(part) for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def _example(shown: str) -> Example:
    """A command goes on as long as a quote is open."""
    lines = shown.splitlines()
    for last in range(1, len(lines) + 1):
        command = "\n".join(lines[:last])
        if command.count("'") % 2 == 0:
            return Example(command, "\n".join(lines[last:]))
    raise AssertionError(f"a quote is not closed: {shown}")


def resembles(said: str, shown: str) -> bool:
    """Line breaks and spaces are for the reader; `…` stands for anything. Ids and minutes differ."""
    said, shown = (_DIFFERS.sub("~", text) for text in (said, shown))
    parts = "".join(shown.split()).split("…")
    return re.fullmatch(".*".join(map(re.escape, parts)), "".join(said.split()), re.DOTALL) is not None


def masked(line: str) -> str:
    for pattern, mask in _MASKS.items():
        line = re.sub(pattern, mask, line)
    return line


@pytest.mark.skipif(shutil.which("curl") is None, reason="the README asks with curl")
def test_what_the_readme_shows(embedded: "Installation") -> None:
    serving = embedded.serve().ready()
    environment = embedded.environment({"WHENCE_PORT": serving.url.rpartition(":")[2]})
    asked = 0
    for command, output in examples():
        if command == "make test":
            continue  # which is what runs this
        if command == "make run":
            assert masked(output.splitlines()[-1]) in masked(serving.said).splitlines()
            continue
        if command == "make demo":
            arguments = [sys.executable, "examples/demo.py"]
        elif command.startswith("whence "):
            arguments = [str(Path(sys.executable).with_name("whence")), *shlex.split(command)[1:]]
        else:
            asked += 1
            program, *rest = shlex.split(command.replace(ADDRESS, serving.url))
            arguments = [program, "--silent", "--show-error", "--noproxy", "*", *rest]
        done = subprocess.run(
            arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        assert not output or resembles(done.stdout, output), f"{command}\n{done.stdout}"
    assert asked >= 6
    found = embedded.json("search", "Why did repairs go over budget?", "--project", "demo", "--limit", "1")
    assert "Repairs went over budget" in found["items"][0]["chunk"]["content"]
    assert found["items"][0]["scores"]["vector"] > 0
    document = found["items"][0]["document"]["id"]
    assert serving.get(f"/api/v1/documents/{document}/file").text.startswith("# ")


def test_other_output_is_noticed() -> None:
    assert resembles('{"total":12,"name":"a b"}', '{"total":…,\n "name":"a b"}')
    assert not resembles('{"total":12,"name":"a b"}', '{"total":…,\n "name":"a c"}')
    assert not resembles('{"total":12}', '{"total":…,"limit":2}')
