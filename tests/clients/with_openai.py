"""OpenAI's own client: chat, structured output, responses and embeddings."""

import sys
from typing import Any

import openai
from pydantic import BaseModel
from report import report

URL, QUESTION = sys.argv[1:]
ASKED: Any = [{"role": "user", "content": QUESTION}]


class Leave(BaseModel):
    days: int


def chat(client: openai.OpenAI) -> dict[str, Any]:
    message = client.chat.completions.create(model="default", messages=ASKED).choices[0].message
    chunks = list(client.chat.completions.create(model="default", messages=ASKED, stream=True))
    last = chunks[-1].choices[0].delta.model_extra or {}
    parsed = client.chat.completions.parse(model="default", messages=ASKED, response_format=Leave)
    return {
        "seen_as": "message.annotations",
        "text": message.content,
        "stream": "".join(chunk.choices[0].delta.content or "" for chunk in chunks),
        "citations": [(one.url_citation.title, one.url_citation.url) for one in message.annotations or []],
        "streamed": [
            (one["url_citation"]["title"], one["url_citation"]["url"]) for one in last["annotations"]
        ],
        "object": parsed.choices[0].message.parsed,
    }


def responses(client: openai.OpenAI) -> dict[str, Any]:
    whole = client.responses.create(model="default", input=QUESTION)
    text, streamed = "", []
    with client.responses.stream(model="default", input=QUESTION) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                text += event.delta
            elif event.type == "response.output_text.annotation.added":
                note: Any = event.annotation
                streamed.append((note.title, note.url))
    parsed = client.responses.parse(model="default", input=QUESTION, text_format=Leave)
    notes: list[Any] = [note for item in whole.output for part in item.content for note in part.annotations]  # type: ignore[union-attr]  # a message
    kept = client.responses.retrieve(whole.id)
    client.responses.delete(whole.id)
    assert kept.output_text == whole.output_text
    return {
        "seen_as": "content.annotations",
        "text": whole.output_text,
        "stream": text,
        "citations": [(note.title, note.url) for note in notes],
        "streamed": streamed,
        "object": parsed.output_parsed,
    }


with openai.OpenAI(base_url=URL, api_key="x") as client:
    vectors = client.embeddings.create(model="default", input=["one", "two"]).data
    report({"openai chat": chat(client), "openai responses": responses(client)}, vectors=len(vectors))
