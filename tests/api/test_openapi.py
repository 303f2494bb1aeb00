"""The OpenAPI document is true: schemathesis asks the running server everything it allows, and much it does not."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import CheckFunction, load_all_checks, not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.core.result import Ok
from schemathesis.openapi import from_dict
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema
from tests.api.conftest import serve_in_thread, usual_settings
from tests.openapi import document, operations

LOOSE: dict[str, set[str]] = {
    # What JSON Schema cannot say about these fields. A form's options are text that is JSON of a certain kind, and not every file is text.
    # A body of one of two kinds cannot be required.
    "/api/v1/chunking/preview": {"no body", "file", "minChunkSize", "maxChunkSize"},
    "/api/v1/ingest/upload": {"file", "metadata", "chunkingOptions"},
    # Which characters a name may have, and that not all of them may be blank.
    "/api/v1/ingest/text": {"name", "text", "minChunkSize", "maxChunkSize"},
    # That two names may not differ only in case, and what a property of each type may have.
    "/api/v1/projects/{project_id}/schema": {"object_types", "relationship_types"},
    # Most URLs are refused or lead nowhere: the other side's 502 is what should come of them.
    "/api/v1/ingest/url": {"url"},
    # That the end of a span of time comes after its start, and a project has either its name or its id.
    "/api/v1/search": {"from", "to", "project"},
    "/api/v1/chat": {"from", "to", "project", "conversationId"},
    # That an item has one of three kinds of places, and a link is given in one of two ways.
    "/api/v1/evidence": {"items"},
    "/api/v1/links/resolve": {"*"},
    # That a sorted list does not go on after an item.
    "/api/v1/documents": {"after"},
    # That a comment is not blank: `_without_limits_of_long_texts` leaves it out.
    "/api/v1/answers/{answer_id}/feedback": {"comment"},
    # Which extractors are installed, that one size is less than another, and which servers may be named.
    "/api/v1/projects": {"extractor", "minChunkSize", "maxChunkSize", "lightragUrl", "lightragKey"},
    "/api/v1/projects/{project_id}": {
        *("extractor", "minChunkSize", "maxChunkSize"),
        *("lightragUrl", "lightragKey"),
    },
    # That the last of the messages has to be a question.
    "/v1/chat/completions": {"messages"},
    "/v1/responses": {"input"},
    # Which names of models are projects, and that no text is empty.
    "/v1/embeddings": {"model", "input"},
    # That no text anywhere in a JSON value may have a NUL, how deep it may be nested, and that a sorted list does not go
    # on after an item.
    "/api/v1/objects": {"properties", "after"},
}

EXAMPLES = hypothesis_settings(
    max_examples=8, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

LONG = 1_000
LONGEST_QUERY = 16_000


def _without_limits_of_long_texts(node: Any) -> Any:
    """The document without patterns and lengths of long texts: schemathesis takes seconds to read each such pattern."""
    if isinstance(node, dict):
        dropped = {"pattern", "maxLength"} if node.get("maxLength", 0) >= LONG else ()
        return {
            name: _without_limits_of_long_texts(part) for name, part in node.items() if name not in dropped
        }
    return [_without_limits_of_long_texts(part) for part in node] if isinstance(node, list) else node


OPERATIONS = operations()


@cache
def schema() -> OpenApiSchema:
    return from_dict(_without_limits_of_long_texts(document()))


@pytest.fixture(scope="module")
def running(shared_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all operations: an answer is as declared, whatever was asked before."""
    with serve_in_thread(usual_settings(shared_dsn, tmp_path_factory.mktemp("running") / "data")) as url:
        yield url


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as opened:
        opened.trust_env = False  # looking for proxies takes a tenth of the time
        yield opened


# The server runs in this process, and what it draws lots for is not what the examples are made of.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=map(" ".join, OPERATIONS))
def test_every_answer_is_as_declared(method: str, path: str, running: str, session: requests.Session) -> None:
    """What to ask is thought out here, when it is asked: as `parametrize` of schemathesis does it, each test
    process would think out everything before its first test."""

    def ask(case: schemathesis.Case[Any]) -> None:
        if len(urlencode(case.query or {}, doseq=True)) > LONGEST_QUERY:
            return  # refused before any operation is known
        case.call_and_validate(base_url=running, session=session, excluded_checks=_loose(case), timeout=120)

    load_all_checks()
    operation = schema().include(method=method, path=path)
    (made,) = get_all_tests(schema=operation, test_func=ask, settings=EXAMPLES, given_kwargs=None)
    assert isinstance(made, Ok), made
    _, ask_everything = made.ok()
    ask_everything()


def _loose(case: schemathesis.Case[Any]) -> list[CheckFunction]:
    path = case.operation.path
    # Nor that no text in metadata may have a NUL; `_without_limits_of_long_texts` leaves it out for others.
    has_nul = "\\u0000" in json.dumps(case.body, default=str)
    has_field = not LOOSE.get(path, set()).isdisjoint({"*", *_names(case.body), *_names(case.query)})
    loose: list[CheckFunction] = [positive_data_acceptance] if has_nul or has_field else []
    return [*loose, not_a_server_error] if path == "/api/v1/ingest/url" else loose


def _names(value: Any) -> Iterator[str]:
    """The names of all fields, at any depth."""
    if value is NOT_SET:
        yield "no body"
    if isinstance(value, Mapping):
        yield from map(str, value)
    for part in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _names(part)


def test_the_document_lists_no_422_and_describes_every_route() -> None:
    described = set()
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            described.add((method.upper(), path))
            assert operation["summary"], (method, path)
            assert "422" not in operation["responses"], (method, path)
            if path.startswith("/api/"):
                assert {"401", "403"} <= set(operation["responses"]), (method, path)
                assert operation["security"], (method, path)
    assert described == set(OPERATIONS)
