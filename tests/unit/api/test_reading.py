"""Requests are read into models, and every error names the field as it was sent, the value and what was expected."""

from typing import Any

import pytest
from pydantic import BaseModel

from whence.api.chat import ChatRequest
from whence.api.chunks import BulkRequest
from whence.api.completions import CompletionRequest
from whence.api.graph import MergeRequest
from whence.api.ingest import DocumentUpdate, TextIngest, UploadForm
from whence.api.jobs import ReextractRequest
from whence.api.projects import ProjectChange
from whence.api.reading import name_as_sent, read
from whence.api.search import SearchRequest
from whence.errors import BadInput, InvalidParameter, InvalidUUID
from whence.models import DEFAULT_PROJECT_ID

PROJECT = str(DEFAULT_PROJECT_ID)
X = {"query": "x"}


@pytest.mark.parametrize(
    ("sent", "name", "expected"),
    [
        ({**X, "limit": 0}, "limit", "an integer from 1 to 100"),
        ({**X, "limit": True}, "limit", "an integer from 1 to 100"),
        ({**X, "minScore": 2}, "minScore", "a number from 0 to 1"),
        ({**X, "min_score": "1"}, "min_score", "a number from 0 to 1"),
        ({**X, "mode": "fast"}, "mode", "one of hybrid, vector, text"),
        ({**X, "floor": "maybe"}, "floor", "true, false, 1, or 0"),
        ({"query": 7}, "query", "a text, not a number"),
        ({"query": " "}, "query", "a text that is not blank"),
        ({**X, "filters": []}, "filters", "a JSON object"),
        ({**X, "filters": {"file_types": [1]}}, "filters.file_types", "a list of texts that are not blank"),
        ({**X, "filters": {"documentIds": PROJECT}}, "filters.documentIds", "a list"),
        ({**X, "filters": {"documentIds": [PROJECT] * 1001}}, "filters.documentIds", "at most 1000 items"),
    ],
)
def test_a_wrong_value_is_named(sent: dict[str, Any], name: str, expected: str) -> None:
    with pytest.raises(InvalidParameter) as wrong:
        read(SearchRequest, sent)
    assert wrong.value.details["parameter"] == name
    assert wrong.value.details["expected"] == expected
    assert wrong.value.message.startswith(f"{name} must be ")


def test_of_something_too_long_the_length_is_given() -> None:
    with pytest.raises(InvalidParameter) as wrong:
        read(SearchRequest, {"query": "x" * 10_001})
    assert wrong.value.details["provided"] == 10_001


@pytest.mark.parametrize(
    ("model", "sent", "name", "known"),
    [
        (SearchRequest, {**X, "page": 2}, "page", "query, mode, limit"),
        (SearchRequest, {**X, "expand": {"depth": 1}}, "expand.depth", "positionalCount, semanticChunkCount"),
        (ReextractRequest, {"dryrun": True}, "dryrun", "scope, dryRun"),
        (
            UploadForm,
            {"strategy": "x"},
            "strategy",
            "file, folder, origin, projectId, metadata, wait, chunkingStrategy",
        ),
        (BulkRequest, {"chunk_ids": [PROJECT], "ids": []}, "ids", "chunk_ids, include_embeddings"),
    ],
)
def test_an_unknown_name_is_refused(
    model: type[BaseModel], sent: dict[str, Any], name: str, known: str
) -> None:
    with pytest.raises(InvalidParameter) as wrong:
        read(model, sent)
    assert wrong.value.details["parameter"] == name
    assert wrong.value.message.startswith(f"{name} is unknown; known are {known}")


def test_openai_s_protocol_ignores_unknown_names() -> None:
    asked = {"model": "default", "messages": [{"role": "user", "content": "Who?", "name": "me"}], "top_p": 1}
    assert read(CompletionRequest, asked).asked().message == "Who?"


@pytest.mark.parametrize(
    ("model", "sent", "code", "field"),
    [
        (SearchRequest, {}, "INVALID_REQUEST", "query"),
        (SearchRequest, {"query": None}, "INVALID_REQUEST", "query"),
        (ChatRequest, {"projectId": PROJECT}, "INVALID_REQUEST", "message"),
        (TextIngest, {"text": 5}, "INVALID_REQUEST", "text"),
        (TextIngest, {"text": "a\x00b"}, "INVALID_REQUEST", "text"),
        (MergeRequest, {"keepId": PROJECT}, "INVALID_REQUEST", "dropId"),
    ],
)
def test_what_is_missing_or_cannot_be_content_is_an_invalid_request(
    model: type[BaseModel], sent: dict[str, Any], code: str, field: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        read(model, sent)
    assert (wrong.value.code, wrong.value.details["field"]) == (code, field)


@pytest.mark.parametrize("sent", [None, [], "x", 7])
def test_a_body_that_is_no_object(sent: Any) -> None:
    with pytest.raises(BadInput) as wrong:
        read(SearchRequest, sent)
    assert wrong.value.details == {"provided": sent}


def test_ids_are_checked_by_their_own_code() -> None:
    with pytest.raises(InvalidUUID) as wrong:
        read(MergeRequest, {"keepId": "x", "dropId": PROJECT})
    assert wrong.value.message == "Invalid UUID format for keepId"
    with pytest.raises(InvalidUUID) as wrong:
        read(SearchRequest, {**X, "filters": {"document_ids": [PROJECT, "x"]}})
    assert wrong.value.message == "Invalid UUID format in filters.document_ids at index 1"
    assert wrong.value.details == {"field": "filters.document_ids", "index": 1, "provided": "x"}


def test_camel_case_and_snake_case_mean_the_same_and_null_is_absent() -> None:
    camel = {"query": "x", "projectId": PROJECT, "minScore": 0.5, "filters": {"fileTypes": ["pdf"]}}
    snake = {"query": "x", "project_id": PROJECT, "min_score": 0.5, "filters": {"file_types": ["pdf"]}}
    nulls = {**camel, "limit": None, "mode": None, "expand": None}
    assert read(SearchRequest, camel) == read(SearchRequest, snake) == read(SearchRequest, nulls)
    assert read(SearchRequest, nulls).question().limit == 10


def test_a_null_chunking_of_an_update_is_absent() -> None:
    assert not read(DocumentUpdate, {"chunkingOptions": None, "wait": True}).says_chunking
    assert read(DocumentUpdate, {"chunkingOptions": {}}).says_chunking


def test_a_null_in_a_project_is_a_choice() -> None:
    change = read(ProjectChange, {"description": None, "config": {"context": {"positionalCount": None}}})
    assert change.model_fields_set == {"description", "config"}
    assert change.config.chosen() == {"context": {"positionalCount": None}}


@pytest.mark.parametrize(
    ("path", "sent", "name"),
    [
        ((), {}, ""),
        (("limit",), {"limit": 0}, "limit"),
        (("minScore",), {"min_score": 0}, "min_score"),
        (("minScore",), {}, "minScore"),
        (("messages", 0, "content"), {"messages": [{}]}, "messages[0].content"),
        (("filters", "documentIds", 3), {"filters": {"document_ids": []}}, "filters.document_ids[3]"),
    ],
)
def test_a_name_is_given_as_it_was_sent(path: tuple[str | int, ...], sent: Any, name: str) -> None:
    assert name_as_sent(path, sent) == name
