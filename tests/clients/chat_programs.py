"""Requests in the shape that Open WebUI and LibreChat send. The programs themselves are not run.

So the rows say what the server answers to such requests, not what a program shows.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx

TITLE = "Days of Leave"
_WEBUI_TASK = (
    "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n\n### Output:\nJSON format: "
    '{{ "title": "your concise title here" }}\n\n### Chat History:\n<chat_history>\nUSER: {question}\n</chat_history>'
)
_LIBRECHAT_TASK = (
    "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. "
    "Only return the title itself.\n\nConversation:\nUser: {question}\nAI: Thirty."
)
PROGRAMS: dict[str, tuple[dict[str, Any], str]] = {
    "Open WebUI": ({}, _WEBUI_TASK),
    "LibreChat": ({"user": "66f0", "temperature": 1}, _LIBRECHAT_TASK),
}
"""By name: what it adds to a request, and how it asks for a title."""


def rows_of(blocks: Mapping[str, str], question: str) -> dict[str, dict[str, Any]]:
    """What is answered to the requests of each program, at the address and with the key that its block has.

    They ask for no JSON of a schema, so that is not measured.
    """
    rows = {}
    for name, (more, task) in PROGRAMS.items():
        (address,) = re.findall(r"http\S+", blocks[name])
        (key,) = re.findall(r"(?:KEY=|apiKey: )(.+)", blocks[name])
        with httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {key}"}) as client:
            assert client.get("models").raise_for_status().json()["data"]
            whole = _asked(client, question, more)["choices"][0]["message"]
            stream, streamed = _streamed(client, question, more)
            rows[f"{name} (requests only)"] = {
                "text": whole["content"],
                "stream": stream,
                "citations": _cited(whole),
                "streamed": streamed,
                "seen_as": "message.annotations",
            }
            title = _asked(client, task.format(question=question), more)
            assert title["sources"] == [], "a title needs no documents"
            assert title["choices"][0]["message"]["content"] == TITLE
    return rows


def _asked(client: httpx.Client, text: str, more: dict[str, Any]) -> dict[str, Any]:
    body = {"model": "default", "messages": [_said(text)], "stream": False, **more}
    answer: dict[str, Any] = client.post("chat/completions", json=body).raise_for_status().json()
    return answer


def _cited(message: dict[str, Any]) -> list[list[str]]:
    found = [one["url_citation"] for one in message.get("annotations") or []]
    return [[one["title"], one["url"]] for one in found]


def _said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _streamed(client: httpx.Client, question: str, more: dict[str, Any]) -> tuple[str, list[list[str]]]:
    body = {
        "model": "default",
        "messages": [_said(question)],
        "stream": True,
        "stream_options": {"include_usage": True},
        **more,
    }
    parts: list[str] = []
    cited: list[list[str]] = []
    with client.stream("POST", "chat/completions", json=body) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line.removeprefix("data: "))["choices"]:
                parts.append(choice["delta"].get("content") or "")
                cited += _cited(choice["delta"])
    return "".join(parts), cited
