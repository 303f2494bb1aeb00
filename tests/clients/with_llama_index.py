"""LlamaIndex, by chat completions and by responses."""

import sys
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses
from pydantic import BaseModel
from report import report

URL, QUESTION = sys.argv[1:]
ASKED = [ChatMessage(role="user", content=QUESTION)]
SERVER: Any = {"model": "default", "api_base": URL, "api_key": "x", "is_chat_model": True}


class Leave(BaseModel):
    days: int


def chat() -> dict[str, Any]:
    model = OpenAILike(**SERVER, should_use_structured_outputs=True)
    whole: Any = model.chat(ASKED)
    pieces: list[Any] = list(model.stream_chat(ASKED))
    notes = whole.raw.choices[0].message.annotations or []
    last = (pieces[-1].raw.choices[0].delta.model_extra or {}).get("annotations", [])
    return {
        "seen_as": "raw…annotations",
        "text": whole.message.content,
        "stream": "".join(piece.delta or "" for piece in pieces),
        "citations": [(note.url_citation.title, note.url_citation.url) for note in notes],
        "streamed": [(note["url_citation"]["title"], note["url_citation"]["url"]) for note in last],
        "object": model.as_structured_llm(Leave).chat(ASKED).raw,
    }


def responses() -> dict[str, Any]:
    model = OpenAILikeResponses(**SERVER)
    whole: Any = model.chat(ASKED)
    pieces: list[Any] = list(model.stream_chat(ASKED))
    notes = whole.additional_kwargs.get("annotations", [])
    last = pieces[-1].additional_kwargs.get("annotations", [])
    return {
        "seen_as": "additional_kwargs.annotations",
        "text": whole.message.content,
        "stream": "".join(piece.delta or "" for piece in pieces),
        "citations": [(note.title, note.url) for note in notes],
        "streamed": [(dict(note)["title"], dict(note)["url"]) for note in last],
        "object": model.as_structured_llm(Leave).chat(ASKED).raw,
    }


report({"llama-index chat": chat(), "llama-index responses": responses()})
