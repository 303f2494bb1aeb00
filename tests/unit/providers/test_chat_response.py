"""Streams of server-sent events, cut in every way that a network can cut them."""

import json
from itertools import chain, pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.chat_endpoint import DONE, event, events

from whence.errors import ModelInvalid, ModelUnavailable
from whence.providers import Completion
from whence.providers.chat_response import CompletionReader, WithoutThought

USAGE = {"prompt_tokens": 7, "completion_tokens": 3}


def without_thought(text: str) -> str:
    reader = WithoutThought()
    return reader.feed(text) + reader.close()


def read(*chunks: bytes) -> tuple[list[str], Completion]:
    reader = CompletionReader(model="asked")
    pieces = [piece for chunk in chunks for piece in reader.feed(chunk)]
    pieces += reader.flush()
    return pieces, reader.end()


def split(body: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


@given(
    pieces=st.lists(st.text(max_size=8), max_size=8),
    line_end=st.sampled_from([b"\n", b"\r\n"]),
    cuts=st.lists(st.integers(0, 10**6), max_size=20),
)
def test_the_same_however_it_is_cut(pieces: list[str], line_end: bytes, cuts: list[int]) -> None:
    body = b"".join(events(pieces, usage=USAGE)).replace(b"\n", line_end)
    found, whole = read(*split(body, cuts))
    assert "".join(found) == "".join(pieces)
    assert all(found)
    assert whole == Completion(
        text="".join(pieces), prompt_tokens=7, completion_tokens=3, model="test-1", finish="stop"
    )


@given(
    broken=st.sampled_from([b'data: {"error": {"message": "overloaded"}}\n\n', b"data: {oops\n\n"]),
    cuts=st.lists(st.integers(0, 10**6), max_size=5),
)
def test_what_came_before_a_failure_is_told_however_it_is_cut(broken: bytes, cuts: list[int]) -> None:
    body = event({"content": "one"}) + event({"content": " two"}) + broken
    reader = CompletionReader(model="asked")
    found: list[str] = []
    with pytest.raises((ModelInvalid, ModelUnavailable)):
        found.extend(chain.from_iterable(map(reader.feed, split(body, cuts))))
    assert found == ["one", " two"]


@given(text=st.text(min_size=1), cuts=st.lists(st.integers(0, 10**6), max_size=5))
def test_an_answer_that_is_no_stream_is_read_whole(text: str, cuts: list[int]) -> None:
    message = {"role": "assistant", "content": text}
    body = {"model": "test-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": USAGE}
    found, whole = read(*split(b"\n" + json.dumps(body, indent=1).encode(), cuts))
    assert found == [text]
    assert whole == Completion(text=text, prompt_tokens=7, completion_tokens=3, model="test-1", finish="stop")


@pytest.mark.parametrize("body", [b"{", b'{"choices": []}', b'{"choices": [{"message": "no"}]}', b"{}"])
def test_what_is_neither_a_stream_nor_an_answer(body: bytes) -> None:
    with pytest.raises(ModelInvalid):
        read(body)


def test_an_error_that_is_no_stream() -> None:
    with pytest.raises(ModelUnavailable):
        read(b'{"error": {"message": "overloaded"}}')


@given(
    before=st.sampled_from(["", "\n", "  "]),
    tag=st.sampled_from(["think", "thinking", "THINK", "reasoning "]),
    again=st.sampled_from(["", "<think>Once more.</think>", "\n<thinking>Hm.</thinking>\n"]),
    thought=st.text(st.characters(exclude_characters="<")) | st.just("a < b </thin"),
    cuts=st.lists(st.integers(0, 10**6), max_size=8),
)
def test_thoughts_are_no_part_of_the_answer(
    before: str, tag: str, again: str, thought: str, cuts: list[int]
) -> None:
    said = f"{before}<{tag}>{thought}</{tag}>{again}\n\nThe answer <think> [1]."
    edges = [0, *sorted(cut % (len(said) + 1) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in pairwise(edges)]
    found, whole = read(*events(pieces))
    assert "".join(found) == whole.text == "The answer <think> [1]."
    assert all(found)


@pytest.mark.parametrize("said", ["", " ", "<", "<thin", "<thinkable> yes", "a <think>b</think>", " <b>"])
def test_what_only_begins_like_a_thought(said: str) -> None:
    found, whole = read(*events(list(said)))
    assert "".join(found) == whole.text == said


def test_a_thought_without_an_end_is_no_answer() -> None:
    assert read(*events(["<think>", "so long"], finish="length")) == (
        [],
        Completion(text="", prompt_tokens=None, completion_tokens=None, model="test-1", finish="length"),
    )


BITS = ["Okay, ", "</think>", "<think>", "\n", "a.", '"', "`", " ", "```\n", "So", "<"]


@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join), st.data())
def test_thoughts_are_left_out_alike_however_they_are_cut(said: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(said)), max_size=8))
    edges = [0, *sorted(cuts), len(said)]
    reader = WithoutThought()
    pieces = [reader.feed(said[start:end]) for start, end in pairwise(edges)]
    assert "".join(pieces) + reader.close() == without_thought(said)


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_anything_else_is_an_error(chunks: list[bytes]) -> None:
    assume(b"[DONE]" not in b"".join(chunks))  # which is a whole stream that says nothing
    with pytest.raises((ModelInvalid, ModelUnavailable)):
        read(*chunks)


@given(st.integers(0, 10**6))
def test_a_stream_that_ends_too_early_is_never_taken_for_whole(cut: int) -> None:
    body = b"".join([event({"content": "one"}), event({"content": " two"}), event({}, finish="stop"), DONE])
    last = body.index(b'"stop"')
    with pytest.raises((ModelInvalid, ModelUnavailable)):
        read(body[: cut % last])


@pytest.mark.parametrize(
    "body",
    [
        event({"content": "yes"}, finish="stop"),  # no end is told but that the model's is
        event({"content": "yes"}) + DONE,  # the other way round
        event({"content": "yes"}) + b"data: [DONE]",  # without the empty line
        event({"content": "yes"}) + b"data:[DONE]\n\n",
        b": keep-alive\n\nevent: message\nid: 1\n" + event({"content": "yes"}) + DONE,
        event({"content": "yes"}).rstrip() + b"\n\n\n\n" + DONE,
        event({"content": "yes"}) + DONE + event({"content": "and no"}),
        event({"content": None}) + event({"content": "yes"}) + event({"reasoning_content": "hm"}) + DONE,
        event({"content": "yes"}).replace(b', "choices"', b',\ndata: "choices"') + DONE,
    ],
)
def test_ways_to_write_it(body: bytes) -> None:
    pieces, whole = read(body)
    assert pieces == ["yes"]
    assert whole.text == "yes"


def test_tokens_that_are_told_with_every_event() -> None:
    chunks = [event({"content": "x"}, usage={"prompt_tokens": 7, "completion_tokens": n}) for n in (1, 2)]
    _, whole = read(*chunks, event({}, finish="stop", usage=None), DONE)
    assert (whole.prompt_tokens, whole.completion_tokens) == (7, 2)


@pytest.mark.parametrize(
    "usage", [0, "7", {}, {"prompt_tokens": 0}, {"prompt_tokens": "7"}, {"prompt_tokens": -1}]
)
def test_tokens_that_are_no_count(usage: object) -> None:
    _, whole = read(event({"content": "x"}, finish="stop", usage=usage))
    assert (whole.prompt_tokens, whole.completion_tokens) == (None, None)


def test_a_name_that_is_none() -> None:
    body = b"data: " + json.dumps({"choices": [{"delta": {"content": "x"}}], "model": 5}).encode() + b"\n\n"
    assert read(body, DONE)[1].model == "asked"


def test_long_reasoning_is_not_read_again_at_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    reader = WithoutThought()

    def look() -> str:
        looks.append(reader._held)
        return reader._held

    monkeypatch.setattr(reader, "_drop_thoughts", look)
    assert reader.feed("<think>") == ""
    assert not any(reader.feed("a -> b ") for _ in range(1_000))
    assert len(looks) == 1


def test_a_closing_tag_may_come_in_pieces_after_long_reasoning() -> None:
    reader = WithoutThought()
    assert not any(reader.feed(piece) for piece in ["<think>", *["a -> b "] * 1_000, "</thi"])
    assert reader.feed("nk>Yes.") + reader.close() == "Yes."
