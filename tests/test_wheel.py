"""The wheel has everything that a server needs outside of the source tree."""

import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "SKIP_UI": "1"})
    (built,) = folder.glob("whence_kb-*.whl")
    return ZipFile(built)


def test_it_holds_every_file_of_the_package(wheel: ZipFile) -> None:
    package = ROOT / "src" / "whence"
    files = {
        f"whence/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - set(wheel.namelist()) == set()


def test_it_has_two_names_for_one_command(wheel: ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("dist-info/entry_points.txt")]
    entry_points = ConfigParser()
    entry_points.read_string(wheel.read(name).decode())
    assert dict(entry_points["console_scripts"]) == {
        "whence": "whence.cli:main",
        "whence-kb": "whence.cli:main",
    }
