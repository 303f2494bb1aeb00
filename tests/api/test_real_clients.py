"""The citations of an answer, as the real packages of others hear them. They live in a venv of their own."""

import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest
from tests.api.chatting import LEAVE, QUESTION

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".clients-venv" / "bin" / "python"

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no .clients-venv: run `make test-clients`")


def test_what_others_hear(running: str) -> None:
    with httpx.Client(base_url=running, timeout=60) as client:
        client.post(
            "/api/v1/ingest/text", json={"text": LEAVE, "name": "leave.md", "wait": True}
        ).raise_for_status()
    script = [str(PYTHON), str(ROOT / "tests" / "clients" / "ask.py"), f"{running}/v1", "x", QUESTION]
    local = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # else it fetches prices when it is loaded
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=300, env=local)
    assert done.returncode == 0, done.stderr
    heard = json.loads(done.stdout.splitlines()[-1])
    said = "Everyone has thirty days of leave in a year. [1]"
    for name in ("openai", "litellm"):
        assert heard[name]["content"] == heard[name]["streamed"] == said
        (note,) = heard[name]["annotations"]
        place = note["url_citation"]
        assert said[place["start_index"] : place["end_index"]] == "[1]"
        assert place["title"] == "leave.md"
        assert "/d/" in place["url"]
    assert heard["openai"]["streamed_annotations"] == heard["openai"]["annotations"]
    langchain = heard["langchain"]
    assert langchain["content"] == langchain["streamed"]
    assert langchain["content"].startswith(said)
    assert langchain["content"].endswith("[1] leave.md: “Everyone has thirty days of leave in a year.”")
