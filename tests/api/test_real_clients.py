"""The real packages of others ask one server, each in a process of its own. They live apart: `make test-clients`.

The table in docs/clients.md is what they see; `make clients-table` writes it anew. The blocks of that page are run, too.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.chatting import LEAVE, PROJECT, QUESTION, about
from tests.api.conftest import serve_in_thread, usual_settings
from tests.chat_endpoint import ChatEndpoint, says
from tests.clients import chat_programs
from tests.loopback import Reply, Request, Stream

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".clients-venv"
SCRIPTS = ROOT / "tests" / "clients"
NODE_SCRIPTS = SCRIPTS / "vercel"
TYPESCRIPT = ROOT / "clients" / "typescript"
PAGE = ROOT / "docs" / "clients.md"
NEW, OLD, NODE = VENV / "bin" / "python", VENV / "openai2" / "bin" / "python", Path("node")
PYTHONS = {"openai": NEW, "langchain": NEW, "llama_index": OLD, "litellm": OLD, "pydantic_ai": NEW}
TITLES = {
    "openai": "OpenAI",
    "langchain": "LangChain",
    "llama_index": "LlamaIndex",
    "litellm": "LiteLLM",
    "pydantic_ai": "Pydantic AI",
    "vercel": "Vercel AI SDK",
}
"""Of the block in the page that belongs to a script."""
AT_ONCE = 2
PUBLIC = "https://kb.example"
SAID = "Everyone has thirty days of leave in a year [1]."
BLOCK = re.compile(r'```\w+ title="(.*?)"\n(.*?)```', re.DOTALL)
TABLE = re.compile(r"\|client\|.*?\n\n", re.DOTALL)
HEAD = "|client|text|stream|citations|in a stream|JSON|\n|---|---|---|---|---|---|"
ENVIRONMENT = {
    **os.environ,
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches prices when it is loaded
    "AI_SDK_LOG_WARNINGS": "false",
}

pytestmark = pytest.mark.skipif(not NEW.exists(), reason="no .clients-venv: run `make test-clients`")


def answer(request: Request) -> Reply | Stream | None:
    """A model that also writes JSON and titles."""
    if "response_format" in request.body:
        return says('{"days": 30}')(request)
    if len(request.body["messages"]) == 1:  # without documents there is no prompt of ours
        return says(chat_programs.TITLE)(request)
    return says(about("thirty", SAID.removesuffix(" [1].")))(request)


@pytest.fixture(scope="module")
def server(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("clients")
    with ChatEndpoint(answer) as model:
        settings = replace(
            usual_settings(shared_dsn, folder), llm_base_url=model.url, llm_model="test", public_url=PUBLIC
        )
        with serve_in_thread(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
            manual = {"config": {"extraction": "manual"}}
            client.patch(f"/api/v1/projects/{PROJECT}", json=manual).raise_for_status()
            text = {"text": LEAVE, "name": "leave.md", "wait": True}
            client.post("/api/v1/ingest/text", json=text).raise_for_status()
            yield url


@pytest.fixture(scope="module")
def key(server: str) -> str:
    """Outside of OpenAI's protocol, a key must be a real one."""
    made = httpx.post(f"{server}/api/v1/keys", json={"name": "clients", "scope": "write"}, timeout=60)
    secret: str = made.raise_for_status().json()["data"]["key"]
    return secret


def has_node() -> bool:
    """Node is not everywhere: without it, or without its packages, the others are asked alone."""
    return shutil.which(NODE) is not None and (NODE_SCRIPTS / "node_modules").exists()


def run(*command: str | Path, block: str = "", cwd: Path = NODE_SCRIPTS, **environment: str) -> str:
    done = subprocess.run(
        command,
        input=block,
        capture_output=True,
        text=True,
        check=False,
        env={**ENVIRONMENT, **environment},
        cwd=cwd,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def page_blocks(url: str, key: str) -> dict[str, str]:
    """The blocks of the page by title, for this server."""
    blocks = dict(BLOCK.findall(PAGE.read_text("utf-8")))
    return {
        title: block.replace("http://127.0.0.1:8420", url).replace("wh_…", key)
        for title, block in blocks.items()
    }


def asked_by(client: str, url: str, block: str) -> dict[str, Any]:
    """What the client's script and its block in the page, a program, say."""
    asked = (f"{url}/v1", QUESTION)
    if client in PYTHONS:
        said = run(PYTHONS[client], SCRIPTS / f"with_{client}.py", *asked, block=block)
        told: dict[str, Any] = json.loads(said.splitlines()[-1])
        return told
    told = json.loads(run(NODE, NODE_SCRIPTS / "ask.mjs", *asked))
    return {**told, "printed": run(NODE, "--input-type=module", block=block)}


def row_of(client: str, seen: dict[str, Any]) -> str:
    """Fails if the client sees something else than was said; what it does not see is `no`."""
    for how in ("text", "stream"):
        assert seen[how].startswith(SAID), (client, how)
    for how in ("citations", "streamed"):
        for title, url in seen[how]:
            assert title == "leave.md", (client, how)
            assert url.startswith(f"{PUBLIC}/d/"), (client, how)
    cells = [
        "yes",
        "yes",
        f"`{seen['seen_as']}`" if seen["citations"] else "no",
        "yes" if seen["streamed"] else "no",
        {True: "yes", False: "no"}[seen["object"] == {"days": 30}] if "object" in seen else "not asked",
    ]
    return f"|{client}|{'|'.join(cells)}|"


def written_table() -> str:
    found = TABLE.search(PAGE.read_text("utf-8"))
    return found[0].strip() if found else ""


def compare(rows: list[str], *, are_all: bool) -> None:
    """The table has these rows; with `make clients-table` it gets them."""
    if are_all and os.environ.get("CLIENTS_TABLE") == "write":
        table = "\n".join([HEAD, *rows])
        PAGE.write_text(TABLE.sub(lambda _: f"{table}\n\n", PAGE.read_text("utf-8"), count=1), "utf-8")
    lines = written_table().splitlines()
    assert set(rows) <= set(lines), "docs/clients.md is out of date: run `make clients-table`"
    if are_all:
        assert len(lines) == len(rows) + len(HEAD.splitlines())


def test_what_clients_see(server: str) -> None:
    blocks = page_blocks(server, "x")
    assert set(blocks) == {*TITLES.values(), *chat_programs.PROGRAMS, "Python", "TypeScript"}
    clients = [client for client in TITLES if client != "vercel" or has_node()]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        told = list(threads.map(lambda client: asked_by(client, server, blocks[TITLES[client]]), clients))
    rows = [row_of(client, seen) for one in told for client, seen in one["rows"].items()]
    rows += [row_of(program, seen) for program, seen in chat_programs.rows_of(blocks, QUESTION).items()]
    compare(rows, are_all=has_node())
    for one in told:
        assert one.get("vectors", 2) == 2
        assert SAID in one["printed"]
        assert "leave.md" in one["printed"]


def test_the_python_client(server: str, key: str) -> None:
    """Its block in the page; `test_python_client.py` has the rest."""
    assert "thirty days" in run(sys.executable, "-c", page_blocks(server, key)["Python"])


@pytest.mark.skipif(not (TYPESCRIPT / "node_modules").exists(), reason="no npm, or not `make test-clients`")
def test_the_typescript_client(server: str, key: str) -> None:
    """Its own tests, and the example of its README."""
    assert "skipped 0" in run("npm", "test", "--silent", cwd=TYPESCRIPT, WHENCE_URL=server)
    (block,) = re.findall(r"```js\n(.*?)```", (TYPESCRIPT / "README.md").read_text("utf-8"), re.DOTALL)
    block = block.replace("http://127.0.0.1:8420", server).replace("wh_…", key)
    for program in (block, page_blocks(server, key)["TypeScript"]):
        assert "thirty days" in run(NODE, "--input-type=module", block=program, cwd=TYPESCRIPT)


def test_retrievers_of_other_libraries(server: str, key: str) -> None:
    """With the packages as they are here, in the venvs of their libraries. LangChain brings tests of its own."""
    for who, days in (("Interns", "ten"), ("Students", "five")):
        text = {"text": f"{who} have {days} days of leave in a year.", "name": f"{who}.md", "wait": True}
        httpx.post(f"{server}/api/v1/ingest/text", json=text, timeout=60).raise_for_status()
    packages = ROOT / "integrations"
    sources = [*packages.glob("*/src"), ROOT / "clients" / "python" / "src", SCRIPTS]
    given = {
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "WHENCE_URL": server,
        "WHENCE_API_KEY": key,
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }
    tests = [packages / name / "tests" for name in ("langchain-whence", "whence-haystack")]
    plain = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "-o", "asyncio_mode=auto")
    assert "skipped" not in run(NEW, "-m", "pytest", *plain, *tests, cwd=packages, **given)
    run(OLD, packages / "llama-index-retrievers-whence" / "tests" / "check.py", cwd=packages, **given)
