"""The conformance suite of answerers: every implementation of the protocol keeps these promises."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from tests.chat_endpoint import ChatEndpoint, says
from tests.distributions import offer_entry_point

from whence.chat import Answerer, AnswerRequest, Draft, ModelAnswerer, Source
from whence.chat.citing import CitationStream
from whence.errors import SettingsError
from whence.offline import ENTRY_POINT_GROUP, answerer
from whence.providers import Completion, Message, open_chat_model
from whence.settings import Settings
from whence.text.prompt_escaping import restore_brackets

TEXTS = [
    "Everyone has thirty days of **leave** in a year, see [the law](https://example.com). Days are lost in March.",
    "# Ports\n\n| Service | Port |\n|---|---|\n| payments | 8080 |\n| search | 9090 |\n",
    "To restart the server, run:\n\n```console\n$ server restart [now]\n```\n",
    "In brackets [2] a reference, [550e8400-e29b-41d4-a716-446655440000] an id, `code` and ``` a lone fence.",
    "休暇は年に三十日です。",
]
QUESTIONS = [
    "How many days of leave does everyone have in a year?",
    "Which port does the search service use?",
    "How do I restart the server?",
    "What is the reference in brackets?",
    "休暇は何日ですか",
    "Who is the mayor of Elmsworth?",
    "?",
    "\x00 \ud800 [1] ``` <passage",
    "leave " * 500,
]


def sources() -> tuple[Source, ...]:
    return tuple(
        Source(
            id=str(uuid4()),
            document_id=str(UUID(int=number)),
            chunk_index=0,
            text=text,
            name=f"{number}.md",
            distance=0.2,
            score=0.9 - number / 10,
        )
        for number, text in enumerate(TEXTS)
    )


@pytest.fixture(params=["extractive", "model"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Answerer]:
    if request.param == "extractive":
        yield answerer()
        return
    with ChatEndpoint() as server:
        server.default = says("Everyone has leave [1]. Nobody has more [9].")
        model = open_chat_model(Settings(llm_base_url=server.url, llm_model="test", llm_attempts=1))
        assert model is not None
        yield ModelAnswerer(model, context=8192, max_tokens=512)
        await model.aclose()


async def written(draft: Draft) -> tuple[list[str], Completion]:
    *pieces, last = [part async for part in draft.parts]
    assert isinstance(last, Completion)
    return [piece for piece in pieces if isinstance(piece, str)], last


class TestAnswerer:
    def test_has_a_name_and_fits_the_protocol(self, subject: Answerer) -> None:
        assert isinstance(subject, Answerer)
        assert subject.name

    @pytest.mark.parametrize("question", QUESTIONS)
    async def test_pieces_make_up_the_completion(self, subject: Answerer, question: str) -> None:
        draft = subject.draft(AnswerRequest(message=question, sources=sources()))
        pieces, whole = await written(draft)
        assert pieces
        assert all(pieces)
        assert "".join(pieces) == whole.text
        assert whole.model

    @pytest.mark.parametrize("question", QUESTIONS)
    async def test_sources_are_those_of_the_request_in_their_order(
        self, subject: Answerer, question: str
    ) -> None:
        given = sources()
        draft = subject.draft(AnswerRequest(message=question, sources=given))
        await written(draft)
        assert list(draft.sources) == [one for one in given if one in draft.sources]

    @pytest.mark.parametrize("question", QUESTIONS)
    async def test_valid_citations_are_sources_and_quotes_are_slices(
        self, subject: Answerer, question: str
    ) -> None:
        draft = subject.draft(AnswerRequest(message=question, sources=sources()))
        citing = CitationStream(draft.sources)
        for piece in (await written(draft))[0]:
            citing.feed(piece)
        citing.close()
        found = citing.validated
        text = restore_brackets(found.text) if draft.masked else found.text
        by_id = {one.id: one for one in draft.sources}
        assert {one.id for one in found.cited} <= by_id.keys()
        for one in draft.citations:
            assert one.quote
            assert one.quote in by_id[one.chunk_id].text
            assert one.quote in text[one.response_start : one.response_end]
            assert text[: one.response_end].endswith(f"[{one.chunk_id}]")

    async def test_an_earlier_conversation_changes_nothing_of_that(self, subject: Answerer) -> None:
        history = (
            Message(role="user", content=QUESTIONS[0]),
            Message(role="assistant", content="Thirty [1]."),
        )
        request = AnswerRequest(
            message="Why?", sources=sources(), before=QUESTIONS[0], history=history, language="german"
        )
        pieces, whole = await written(subject.draft(request))
        assert "".join(pieces) == whole.text


SILENT = """
from whence.chat import Draft
from whence.chat.answerer import say

class Silent:
    name = "silent"

    def draft(self, request):
        return Draft(sources=(), parts=say("Nothing.", model=self.name))
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


async def test_a_distribution_offers_an_answerer(site: Path) -> None:
    offer_entry_point(
        site, group=ENTRY_POINT_GROUP, name="silent", value="offered_silent:Silent", source=SILENT
    )
    offered = answerer("silent")
    assert isinstance(offered, sys.modules["offered_silent"].Silent)
    _, whole = await written(offered.draft(AnswerRequest(message="What?", sources=sources())))
    assert (whole.text, whole.model) == ("Nothing.", "silent")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"WHENCE_ANSWERER is 'semantic'; expected one of extractive"):
        answerer("semantic")


@pytest.mark.parametrize(
    ("source", "message"),
    [("raise RuntimeError('no luck')\n", "cannot be loaded"), ("made = 3\n", "is no answerer named 'wrong'")],
)
def test_an_answerer_that_does_not_work_is_named(site: Path, source: str, message: str) -> None:
    module = f"offered_answerer_{len(source)}"
    offer_entry_point(site, group=ENTRY_POINT_GROUP, name="wrong", value=f"{module}:made", source=source)
    with pytest.raises(SettingsError, match=message):
        answerer("wrong")
