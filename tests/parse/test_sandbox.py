"""The process that parses reaches its input, its libraries and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from whence.parse.sandbox import confine

SCRIPT = """
import os, socket, sys
from pathlib import Path
from whence.parse.sandbox import confine

inputs, work, other = map(Path, sys.argv[1:])
print(*confine(inputs, work=work))

def attempt(name, do):
    try:
        do()
        print(name, "works")
    except OSError as exc:
        print(name, exc.errno)

attempt("input", (inputs / "a").read_bytes)
attempt("work", lambda: (work / "b").write_bytes(b"b"))
attempt("library", lambda: __import__("wave"))
attempt("other", other.read_bytes)
attempt("list", lambda: os.listdir(other.parent))
attempt("passwords", Path("/etc/passwd").read_bytes)
attempt("write input", lambda: (inputs / "a").write_bytes(b""))
attempt("socket", socket.socket)
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("program", lambda: os.execv("/bin/true", ["true"]))
attempt("kill", lambda: os.kill(os.getppid(), 0))
"""
PROBE = "import sys; from whence.parse.sandbox import confine; sys.exit(len(confine()) != 2)"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_what_a_confined_process_can_do(tmp_path: Path) -> None:
    if subprocess.run([sys.executable, "-c", PROBE], check=False).returncode:
        pytest.skip("this kernel lacks seccomp or Landlock")
    inputs, work, other = (tmp_path / name for name in ("input", "work", "other"))
    inputs.mkdir()
    work.mkdir()
    for file in (inputs / "a", other):
        file.write_text("a", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, inputs, work, other], check=True, capture_output=True, text=True
    )
    first, *rest = ran.stdout.splitlines()
    assert first == "seccomp Landlock"
    can = {name for name, _, outcome in (line.rpartition(" ") for line in rest) if outcome == "works"}
    assert can == {"input", "work", "library"}


def test_elsewhere_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert confine() == []
