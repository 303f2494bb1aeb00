"""Clients that are generated from the OpenAPI document: every module of them can be imported.

The generators are not among the requirements. Install them where you like and put them on the PATH:
`pip install openapi-python-client`, `npm install openapi-typescript typescript`.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import openapi

IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
package = importlib.import_module("client")
for module in pkgutil.walk_packages(package.__path__, "client."):
    print(importlib.import_module(module.name).__name__)
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(openapi.document()))
    return path


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; put it on the PATH to check the client it generates")
    return found


def operations(document: Path) -> list[dict[str, str]]:
    paths = json.loads(document.read_text())["paths"]
    return [operation for methods in paths.values() for operation in methods.values()]


def test_operation_ids_are_short_and_each_is_used_once(document: Path) -> None:
    ids = [operation["operationId"] for operation in operations(document)]
    assert len(ids) == len(set(ids))
    assert {"search", "chat", "getChunk", "listDocuments", "getDocument"} <= set(ids)
    assert all(name.isalnum() and name[0].islower() and len(name) <= 25 for name in ids), ids


def test_every_module_of_the_python_client_can_be_imported(document: Path, tmp_path: Path) -> None:
    generator = tool("openapi-python-client")
    made = subprocess.run(
        [generator, "generate", "--path", document, "--meta", "none", "--output-path", tmp_path / "client"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Unable to process schema" not in made.stdout + made.stderr
    python = Path(generator).parent / "python"  # has the libraries that the client needs
    done = subprocess.run(
        [python, "-c", IMPORT_ALL, tmp_path], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    modules = {name.rpartition(".")[2].replace("_", "") for name in done.stdout.split()}
    missing = [
        one["operationId"] for one in operations(document) if one["operationId"].lower() not in modules
    ]
    assert not missing


def test_the_typescript_client_compiles(document: Path, tmp_path: Path) -> None:
    generator, compiler = tool("openapi-typescript"), tool("tsc")
    made = tmp_path / "schema.ts"
    subprocess.run([generator, document, "--output", made], check=True, capture_output=True)
    subprocess.run([compiler, "--noEmit", "--strict", made], check=True, capture_output=True)
    text = made.read_text()
    assert [
        one["operationId"] for one in operations(document) if f"    {one['operationId']}: {{" not in text
    ] == []
