"""LangChain's client, by chat completions with footnotes and by responses."""

import sys
from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from report import report

URL, QUESTION = sys.argv[1:]


class Leave(BaseModel):
    days: int


def cited(message: Any) -> list[tuple[str, str]]:
    notes = [note for block in message.content_blocks for note in block.get("annotations", [])]
    return [(note["title"], note["url"]) for note in notes]


def ask(**more: Any) -> dict[str, Any]:
    model = ChatOpenAI(base_url=URL, api_key="x", model="default", **more)
    whole = model.invoke(QUESTION)
    pieces = list(model.stream(QUESTION))
    streamed = pieces[0]
    for piece in pieces[1:]:
        streamed += piece
    return {
        "seen_as": "content_blocks.annotations",
        "text": whole.text,
        "stream": streamed.text,
        "citations": cited(whole),
        "streamed": cited(streamed),
        "object": model.with_structured_output(Leave, method="json_schema").invoke(QUESTION),
    }


report(
    {
        "langchain-openai": ask(use_responses_api=True),
        "langchain-openai chat": ask(extra_body={"footnotes": True}),
    }
)
