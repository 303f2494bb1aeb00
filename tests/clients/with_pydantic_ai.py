"""Pydantic AI, by chat completions and by responses."""

import asyncio
import sys
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from report import report

URL, QUESTION = sys.argv[1:]


class Leave(BaseModel):
    days: int


def cited(response: Any) -> list[tuple[str, str]]:
    citations = [one for part in response.parts for one in getattr(part, "citations", None) or []]
    return [(source.title, source.url) for one in citations for source in one.sources]


async def ask(model: Any) -> dict[str, Any]:
    agent = Agent(model)
    whole = await agent.run(QUESTION)
    async with agent.run_stream(QUESTION) as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True)]
    parsed = await Agent(model, output_type=NativeOutput(Leave)).run(QUESTION)
    return {
        "seen_as": "TextPart.citations",
        "text": whole.output,
        "stream": "".join(pieces),
        "citations": cited(whole.response),
        "streamed": cited(stream.response),
        "object": parsed.output,
    }


async def main() -> dict[str, dict[str, Any]]:
    provider = OpenAIProvider(base_url=URL, api_key="x")
    return {
        "pydantic-ai chat": await ask(OpenAIChatModel("default", provider=provider)),
        "pydantic-ai responses": await ask(OpenAIResponsesModel("default", provider=provider)),
    }


report(asyncio.run(main()))
