"""The wheel has everything that a server needs outside of the source tree."""

import os
import subprocess
import sys
from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.pages import ROOT, no_other_builds

PACKAGE = ROOT / "src" / "whence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    wheel: ZipFile
    sources: set[str]
    """The files of the package when the wheel was built."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    with no_other_builds():
        sources = {
            f"whence/{path.relative_to(PACKAGE).as_posix()}"
            for path in PACKAGE.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "SKIP_UI": "1"})
    (file,) = folder.glob("whence_kb-*.whl")
    return Built(wheel=ZipFile(file), sources=sources)


@pytest.fixture
def wheel(built: Built) -> ZipFile:
    return built.wheel


def test_it_holds_every_file_of_the_package(built: Built) -> None:
    assert built.sources - set(built.wheel.namelist()) == set()


def test_it_has_two_names_for_one_command(wheel: ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("dist-info/entry_points.txt")]
    entry_points = ConfigParser()
    entry_points.read_string(wheel.read(name).decode())
    assert dict(entry_points["console_scripts"]) == {
        "whence": "whence.cli:main",
        "whence-kb": "whence.cli:main",
    }


def test_it_holds_the_python_client(wheel: ZipFile) -> None:
    package = ROOT / "clients" / "python" / "src" / "whence_client"
    files = {f"whence_client/{path.name}" for path in package.iterdir() if path.is_file()}
    assert "whence_client/py.typed" in files
    assert files - set(wheel.namelist()) == set()


def test_the_python_client_has_a_wheel_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT / "clients" / "python", check=True, capture_output=True)
    (built,) = tmp_path.glob("whence_client-*.whl")
    with ZipFile(built) as own:
        (name,) = [name for name in own.namelist() if name.endswith("dist-info/METADATA")]
        needs = [line for line in own.read(name).decode().splitlines() if line.startswith("Requires-Dist")]
    assert needs == ["Requires-Dist: httpx>=0.28"]
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import whence_client; print(whence_client.__file__)"
    )
    found = subprocess.run(
        [sys.executable, "-I", "-c", script, str(built)], check=True, capture_output=True, text=True
    )
    assert found.stdout.startswith(str(built))


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("langchain-whence", "langchain_whence"),
        ("llama-index-retrievers-whence", "llama_index/retrievers/whence"),
        ("whence-haystack", "haystack_integrations/components/retrievers/whence"),
    ],
)
def test_each_retriever_has_a_wheel_of_its_own(package: str, module: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT / "integrations" / package, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    with ZipFile(built) as own:
        files = [name for name in own.namelist() if "dist-info" not in name]
        (name,) = [name for name in own.namelist() if name.endswith("dist-info/METADATA")]
        metadata = own.read(name).decode()
    assert set(files) == {f"{module}/__init__.py", f"{module}/py.typed"}
    assert "Requires-Dist: whence-client<0.2,>=0.1" in metadata.splitlines()
