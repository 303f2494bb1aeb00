"""LiteLLM."""

import sys
from typing import Any

import litellm
from pydantic import BaseModel
from report import report

URL, QUESTION = sys.argv[1:]


class Leave(BaseModel):
    days: int


def cited(notes: Any) -> list[tuple[str, str]]:
    return [(note["url_citation"]["title"], note["url_citation"]["url"]) for note in notes or []]


asked: Any = {"model": "openai/default", "api_base": URL, "api_key": "x"}
asked["messages"] = [{"role": "user", "content": QUESTION}]
message: Any = litellm.completion(**asked).choices[0].message
deltas: Any = [chunk.choices[0].delta for chunk in litellm.completion(**asked, stream=True)]
parsed: Any = litellm.completion(**asked, response_format=Leave).choices[0].message
vectors: Any = litellm.embedding(
    model="openai/default", api_base=URL, api_key="x", input=["one", "two"], encoding_format="float"
)
report(
    {
        "litellm": {
            "seen_as": "message.annotations",
            "text": message.content,
            "stream": "".join(delta.content or "" for delta in deltas),
            "citations": cited(message.annotations),
            "streamed": [one for delta in deltas for one in cited(getattr(delta, "annotations", None))],
            "object": Leave.model_validate_json(parsed.content),
        }
    },
    vectors=len(vectors.data),
)
