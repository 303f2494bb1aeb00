"""What every extractor must do: the model behind an endpoint, the rules, and any that is installed.

To run it over an extractor of yours, install the distribution that offers it.
"""

import json
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.chat_endpoint import ChatEndpoint, Messages, says
from tests.extracting import primary_of
from tests.merging import Merged

from whence.extract.context import ChunkText, ExtractionContext, KnownObject
from whence.extract.default_schema import DEFAULT_SCHEMA
from whence.extract.extractors import Extractor, ModelExtractor, TokenUsage, offered_extractors
from whence.extract.merge import merge
from whence.offline.extractor import RulesExtractor
from whence.providers import open_chat_model
from whence.settings import Settings

TEXT = "# Services\n\nREQ-7: The Gateway must answer within 2 seconds.\nStatus: open\n"
KNOWN = KnownObject(
    id=UUID(int=7), type="Requirement", name="REQ-7", name_key="req-7", properties={"status": "draft"}
)
TEXTS = [
    TEXT,
    "x",
    "東京は日本の首都です。",
    "nul \x1b and 👩‍👩‍👧‍👦",
    '{"objects": [{"type": "Person", "name": "Mallory"}]}',
    "REQ-1: " + "word " * 1500,
    "| Service | Port |\n|---|---|\n| Web | 80 |",
]


def scripted(messages: Messages) -> str:
    """A careful model: one requirement, and only if the chunk has it."""
    text = primary_of(messages)
    new = {"type": "Requirement", "name": "REQ-7", "status": "open"}
    return json.dumps({"objects": [new] if "REQ-7" in text else [], "relationships": []})


@pytest.fixture(params=["model", "rules", *offered_extractors()])
async def extractor(request: pytest.FixtureRequest) -> AsyncIterator[Extractor]:
    if request.param != "model":
        yield {"rules": RulesExtractor(), **offered_extractors()}[request.param]
        return
    with ChatEndpoint(says(scripted)) as endpoint:
        settings = Settings(llm_base_url=endpoint.url, llm_model="test-1", llm_attempts=1)
        chat = open_chat_model(settings)
        assert chat is not None
        yield ModelExtractor.of(settings, chat)
        await chat.aclose()


def context_of(text: str, *known: KnownObject) -> ExtractionContext:
    return ExtractionContext(primary=ChunkText(id=UUID(int=1), text=text), objects=known)


async def outcome(extractor: Extractor, text: str, *known: KnownObject) -> Merged:
    question = extractor.question(DEFAULT_SCHEMA, context_of(text, *known))
    reading = await extractor.read(question, TokenUsage())
    assert reading.context.primary.text == text
    result = merge(
        schema=DEFAULT_SCHEMA,
        known=reading.context.objects,
        primary=reading.context.primary,
        context=[each.text for each in reading.context.chunks],
        reply=reading.reply,
        blind=reading.blind,
    )
    return Merged.of(result, known)


class TestExtractor:
    async def test_has_a_name_and_fits_the_protocol(self, extractor: Extractor) -> None:
        assert isinstance(extractor, Extractor)
        assert extractor.name == extractor.name.strip().lower()
        assert (extractor.model is None) == (extractor.name != "model")

    async def test_says_what_a_prompt_takes(self, extractor: Extractor) -> None:
        frame, most = extractor.prompt_tokens(DEFAULT_SCHEMA)
        assert 0 <= frame <= most

    async def test_finds_what_the_chunk_states_in_so_many_words(self, extractor: Extractor) -> None:
        found = await outcome(extractor, TEXT)
        assert [(each.type, each.name) for each in found.objects] == [("Requirement", "REQ-7")]
        assert found.objects[0].properties["status"] == "open"
        assert found.rejections == ()

    async def test_speaks_of_known_objects_as_such(self, extractor: Extractor) -> None:
        found = await outcome(extractor, TEXT, KNOWN)
        assert found.objects == ()
        assert [(each.id, each.properties["status"]) for each in found.updates] == [(KNOWN.id, "open")]

    @pytest.mark.parametrize("text", TEXTS)
    async def test_every_claim_is_quoted_from_the_chunk(self, extractor: Extractor, text: str) -> None:
        for claim in (await outcome(extractor, text)).claims:
            assert claim.span is not None
            assert text[claim.span.start : claim.span.end] == claim.span.quote

    @pytest.mark.parametrize("text", TEXTS)
    async def test_the_same_twice(self, extractor: Extractor, text: str) -> None:
        assert await outcome(extractor, text) == await outcome(extractor, text)

    async def test_asking_costs_nothing_before_the_chunk_is_read(self, extractor: Extractor) -> None:
        usage = TokenUsage()
        question = extractor.question(DEFAULT_SCHEMA, context_of(TEXT))
        assert (usage.prompt_tokens, usage.completion_tokens) == (0, 0)
        await extractor.read(question, usage)
        assert (usage.prompt_tokens > 0) == (extractor.model is not None)

    async def test_an_empty_context_is_enough(self, extractor: Extractor) -> None:
        assert (await outcome(extractor, "Nothing of note.")).objects == ()


@pytest.mark.parametrize("is_escaped", [True, False])
async def test_a_model_that_copies_masked_brackets_is_understood(*, is_escaped: bool) -> None:
    def copy(messages: Messages) -> str:
        assert "⁅TBD⁆" in primary_of(messages)
        new = {"type": "Requirement", "name": "REQ-7", "status": "open ⁅TBD⁆"}
        return json.dumps({"objects": [new]}, ensure_ascii=is_escaped)

    with ChatEndpoint(says(copy)) as endpoint:
        settings = Settings(llm_base_url=endpoint.url, llm_model="test-1", llm_attempts=1)
        chat = open_chat_model(settings)
        assert chat is not None
        found = await outcome(ModelExtractor.of(settings, chat), "REQ-7 is open [TBD].")
        await chat.aclose()
    assert [each.span and each.span.quote for each in found.claims] == ["REQ-7", "open [TBD]"]
