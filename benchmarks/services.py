"""Documents about made-up services, and a model on loopback that reads them, always after the same time.

A document names its services in full before it writes of them in other ways ("Payment Gateway service", "PAYMENT
GATEWAY"). The model knows one by any of them: it gives the id of an object that it is shown, and else makes a new one by the
name that the text has at that place, as models do.
"""

import json
import multiprocessing
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from multiprocessing.connection import Connection
from typing import Any

from tests.chat_endpoint import ChatEndpoint, Messages, says
from tests.extracting import objects_of, paragraphs, primary_of
from tests.loopback import Behaviour, Reply, Request, Stream

from whence.chunk import ChunkingOptions
from whence.ingest import Chunking

CUT = Chunking(strategy="paragraph", options=ChunkingOptions(max_chunk_size=1000, min_chunk_size=10))
NAMES = tuple(
    f"{which} {what}"
    for which, what in product(
        ("Payment", "Audit", "Mail", "Search", "Login", "Image"), ("Gateway", "Archive", "Queue", "Router")
    )
)
PARTS = 6
"""Of a document: each is a chunk."""
PER_DOCUMENT = 3
"""So many services a document speaks of."""

_WAYS = ("{}", "{} service", "{} module", "{} component")
_FACTS = ("owner", "port", "zone", "version", "budget")
_FACT = re.compile(r"The ([^.]+?) has the (\w+) (\w+)\.")
_INTRODUCED = re.compile(r"The ([^.]+?) is one of our services\.")


def document(number: int, *, of: tuple[str, ...] = NAMES, size: int = PARTS) -> str:
    chance = random.Random(number)
    chosen = chance.sample(of, min(PER_DOCUMENT, len(of)))
    first = [f"The {name} is one of our services." for name in chosen]
    parts = [" ".join(_written(chance, name, fact, number) for name in chosen) for fact in _FACTS]
    return paragraphs(f"This is document {number}. {' '.join(first)}", *parts[: size - 1])


def _written(chance: random.Random, name: str, fact: str, number: int) -> str:
    way = chance.choice(_WAYS).format(name)
    return f"The {way if chance.random() < 0.8 else way.upper()} has the {fact} x{number}{chance.randint(100, 999)}."


def service(written: str) -> str:
    """The one that is meant, however it is written."""
    return next(name for name in NAMES if written.lower().startswith(name.lower()))


def read(primary: str, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The reply to a chunk, given the objects that are shown with it by their names."""
    shown = {service(name): each for name, each in known.items() if _is_service(name)}
    said: dict[str, dict[str, Any]] = {}
    for written in _INTRODUCED.findall(primary):
        if service(written) not in shown:
            said[service(written)] = {"type": "Component", "name": written}
    for written, fact, value in _FACT.findall(primary):
        which = service(written)
        known_as = shown.get(which)
        head = {"id": known_as["id"]} if known_as else {"type": "Component", "name": written}
        said.setdefault(which, head)[fact] = value
    return {"objects": list(said.values()), "relationships": []}


def _is_service(name: str) -> bool:
    return any(name.lower().startswith(each.lower()) for each in NAMES)


def read_words(primary: str, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The same for text of made-up words: three pairs of neighbouring words are objects, and one depends on another."""
    words = primary.split()
    pairs = [f"{words[at]} {words[at + 1]}" for at in (10, 40, 70)]
    objects: list[dict[str, Any]] = []
    for name, following in zip(pairs, (12, 42, 72), strict=True):
        head = {"id": known[name]["id"]} if name in known else {"type": "Component", "name": name}
        objects.append({**head, "status": words[following], "kind": words[following + 1]})
    ties = [{"type": "depends_on", "source": pairs[0], "target": pairs[1]}] if pairs[0] != pairs[1] else []
    return {"objects": objects, "relationships": ties}


def taking(seconds: float) -> Behaviour:
    """What the reading itself takes is part of the time."""

    def answer(messages: Messages) -> str:
        primary = primary_of(messages)
        reader = read if primary.startswith("#") else read_words
        return json.dumps(reader(primary, objects_of(messages)))

    said = says(answer, counted=False)

    def reply(request: Request) -> Reply | Stream | None:
        made = said(request)
        time.sleep(max(0.0, request.at + seconds - time.monotonic()))
        return made

    return reply


def _serve(seconds: float, ours: Connection) -> None:
    with ChatEndpoint(taking(seconds)) as endpoint:
        ours.send(endpoint.url)
        ours.recv()


@contextmanager
def model(seconds: float) -> Iterator[str]:
    """The address of a model that answers after this many seconds. It runs in its own process, as models do."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(seconds, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()
