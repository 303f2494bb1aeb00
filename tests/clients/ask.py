"""Asks a server with the real packages of others, whole and streamed, and prints what each of them hears as JSON.

Runs in `.clients-venv` (`make test-clients`), which has these packages and nothing of ours.
"""

import json
import sys
from typing import Any

import litellm
import openai
from langchain_openai import ChatOpenAI

URL, KEY, QUESTION = sys.argv[1:]
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


def with_openai() -> dict[str, Any]:
    client = openai.OpenAI(base_url=URL, api_key=KEY)
    message = client.chat.completions.create(model="default", messages=ASKED).choices[0].message
    chunks = list(client.chat.completions.create(model="default", messages=ASKED, stream=True))
    return {
        "content": message.content,
        "annotations": [note.model_dump() for note in message.annotations or []],
        "streamed": "".join(chunk.choices[0].delta.content or "" for chunk in chunks),
        "streamed_annotations": (chunks[-1].choices[0].delta.model_extra or {}).get("annotations"),
    }


def with_langchain() -> dict[str, Any]:
    model = ChatOpenAI(base_url=URL, api_key=KEY, model="default", extra_body={"footnotes": True})
    return {
        "content": model.invoke(QUESTION).content,
        "streamed": "".join(str(chunk.content) for chunk in model.stream(QUESTION)),
    }


def with_litellm() -> dict[str, Any]:
    asked: Any = {"model": "openai/default", "api_base": URL, "api_key": KEY, "messages": ASKED}
    message: Any = litellm.completion(**asked).choices[0].message
    pieces = [chunk.choices[0].delta.content or "" for chunk in litellm.completion(**asked, stream=True)]
    return {
        "content": message.content,
        "annotations": [dict(note) for note in message.annotations or []],
        "streamed": "".join(pieces),
    }


sys.stdout.write(
    json.dumps({"openai": with_openai(), "langchain": with_langchain(), "litellm": with_litellm()})
)
