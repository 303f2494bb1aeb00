"""The log of a server: lines for machines, with the request's id, on standard error alone."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.acceptance.conftest import Installation


def test_json(hosted: "Installation") -> None:
    serving = hosted.serve(env={"WHENCE_LOG_FORMAT": "json", "WHENCE_FOO": "1"}).ready()
    answer = serving.get("/api/v1/projects", **{"X-Request-ID": "my-request/1"})
    assert answer.headers["x-request-id"] == "my-request/1"
    own = serving.get("/api/v1/nowhere").headers["x-request-id"]
    assert serving.end() == 0

    lines = [json.loads(line) for line in serving.said.splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    assert all(line["time"].endswith("Z") for line in lines)
    of_request = {line.get("request_id"): line["message"] for line in lines}
    assert of_request["my-request/1"].startswith("GET /api/v1/projects 200 ")
    assert of_request[own].startswith("GET /api/v1/nowhere 404 ")
    assert [line["level"] for line in lines if "WHENCE_FOO" in line["message"]] == ["warning"]
    assert lines[-1]["message"] == "Stopping"


def test_json_of_several_processes(hosted: "Installation") -> None:
    serving = hosted.serve("--workers=2", env={"WHENCE_LOG_FORMAT": "json"}).ready()
    serving.get("/healthz", **{"X-Request-ID": "one-of-two"})
    assert serving.end() == 0
    lines = [json.loads(line) for line in serving.said.splitlines()]
    assert "one-of-two" in {line.get("request_id") for line in lines}


def test_text(hosted: "Installation") -> None:
    serving = hosted.serve().ready()
    serving.get("/healthz", **{"X-Request-ID": "mine"})
    assert serving.end() == 0
    assert any(line.endswith("[mine]") and "GET /healthz 200" in line for line in serving.said.splitlines())
