"""Reads a working directory of LightRAG: documents, chunks, and the graph with the chunks that it came from.

Since 1.4.9 `kv_store_entity_chunks.json` and `kv_store_relation_chunks.json` name the chunks of entities and relations. Older
directories have only `source_id` in the GraphML, which newer ones may cut short.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import orjson

from whence.errors import BadInput, WhenceError

SEPARATOR = "<SEP>"
GRAPH = "graph_chunk_entity_relation.graphml"

_MAX_FILE = 1024 * 1024 * 1024
_MAX_ELEMENTS = 10_000_000
_UNKNOWN = ("", "unknown_source", "unknown")
_WHOLE = (None, "", "raw")
"""Values of `parse_format` where `content` is the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightRAGDocument:
    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LightRAGEntity:
    name: str
    type: str
    descriptions: tuple[str, ...]
    documents: frozenset[str]
    """Ids of the documents that it came from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LightRAGRelation:
    """Without a direction, as LightRAG has it."""

    source: str
    target: str
    keywords: str
    descriptions: tuple[str, ...]
    documents: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingDirectory:
    documents: tuple[LightRAGDocument, ...]
    entities: tuple[LightRAGEntity, ...]
    relations: tuple[LightRAGRelation, ...]
    unread: tuple[tuple[str, str], ...] = ()
    """Documents without a text, each with the reason."""


def read_working_directory(folder: Path) -> WorkingDirectory:
    """Raises `BadInput` if the folder is no working directory or a file in it cannot be read."""
    if not (folder / "kv_store_full_docs.json").is_file():
        raise BadInput(f"{folder} is no working directory of LightRAG: it has no kv_store_full_docs.json")
    chunks = _read_store(folder, "text_chunks")
    documents, unread = _documents(
        _read_store(folder, "full_docs"), _read_store(folder, "doc_status"), chunks
    )
    graph = _read_graph(folder / GRAPH)
    of_chunk = {ident: str(chunk.get("full_doc_id")) for ident, chunk in chunks.items()}
    entity_chunks, relation_chunks = (
        _read_store(folder, f"{each}_chunks") for each in ("entity", "relation")
    )
    entities = [
        LightRAGEntity(
            name=name,
            type=found.get("entity_type", "").strip() or "Unknown",
            descriptions=_split(found.get("description", "")),
            documents=_origins(found, entity_chunks.get(name), of_chunk),
        )
        for name, found in graph.nodes.items()
    ]
    relations = [
        LightRAGRelation(
            source=source,
            target=target,
            keywords=found.get("keywords", "").replace(SEPARATOR, ", ").strip(),
            descriptions=_split(found.get("description", "")),
            documents=_origins(
                found, relation_chunks.get(SEPARATOR.join(sorted((source, target)))), of_chunk
            ),
        )
        for source, target, found in graph.edges
    ]
    return WorkingDirectory(
        documents=tuple(documents), entities=tuple(entities), relations=tuple(relations), unread=tuple(unread)
    )


def _documents(
    full: Mapping[str, Any], status: Mapping[str, Any], chunks: Mapping[str, Any]
) -> tuple[list[LightRAGDocument], list[tuple[str, str]]]:
    found, unread = [], []
    for ident, one in full.items():
        path = str(one.get("file_path") or status.get(ident, {}).get("file_path") or "")
        name = path.replace("\\", "/").rpartition("/")[2]
        text = one.get("content") if one.get("parse_format") in _WHOLE else _joined(ident, chunks)
        if not isinstance(text, str) or not text.strip():
            unread.append((ident, "it has no text"))
        else:
            found.append(
                LightRAGDocument(id=ident, name=f"{ident}.txt" if name in _UNKNOWN else name, text=text)
            )
    return found, unread


def _joined(ident: str, chunks: Mapping[str, Any]) -> str:
    """The text of a document that LightRAG keeps in another form: its chunks, in their order."""
    own = [chunk for chunk in chunks.values() if chunk.get("full_doc_id") == ident]
    own.sort(key=_place)
    return "\n\n".join(str(chunk.get("content", "")) for chunk in own)


def _place(chunk: Mapping[str, Any]) -> float:
    place = chunk.get("chunk_order_index")
    return place if isinstance(place, int | float) else 0


def _origins(found: Mapping[str, str], listed: Any, of_chunk: Mapping[str, str]) -> frozenset[str]:
    ids = found.get("source_id", "").split(SEPARATOR)
    if isinstance(listed, dict) and isinstance(listed.get("chunk_ids"), list):
        ids = [str(one) for one in listed["chunk_ids"]]
    return frozenset(of_chunk[one] for one in ids if one in of_chunk)


def _split(descriptions: str) -> tuple[str, ...]:
    parts = (part.strip().strip('"').strip() for part in descriptions.split(SEPARATOR))
    return tuple(dict.fromkeys(part for part in parts if part))


def _read_store(folder: Path, name: str) -> dict[str, Any]:
    """The entries of a file that may be missing."""
    file = folder / f"kv_store_{name}.json"
    if not file.is_file():
        return {}
    try:
        found = orjson.loads(_read_bounded(file))
    except ValueError as exc:
        raise BadInput(f"{file} is not valid JSON: {exc}") from exc
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise BadInput(f"{file} is not a store of LightRAG: it must be a JSON object of objects")
    return found


def _read_bounded(file: Path) -> bytes:
    try:
        if file.stat().st_size > _MAX_FILE:
            raise BadInput(f"{file} is larger than {_MAX_FILE // 1024**3} GB")
        return file.read_bytes()
    except OSError as exc:
        raise WhenceError(f"Cannot read {file}: {exc.strerror or exc}") from exc


@dataclass(slots=True)
class _Graph:
    """Collects nodes and edges while expat reads. No DTD is accepted, so no entity is ever expanded."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    current: dict[str, str] | None = None
    key: str | None = None
    parts: list[str] = field(default_factory=list)
    elements: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.elements += 1
        if self.elements > _MAX_ELEMENTS:
            raise BadInput(f"more than {_MAX_ELEMENTS} elements")
        match tag.rpartition("}")[2]:
            case "key":
                self.names[attributes.get("id", "")] = attributes.get("attr.name", "")
            case "node":
                self.current = self.nodes.setdefault(attributes.get("id", ""), {})
            case "edge":
                self.current = {}
                self.edges.append((attributes.get("source", ""), attributes.get("target", ""), self.current))
            case "data":
                self.key, self.parts = attributes.get("key"), []

    def text(self, part: str) -> None:
        if self.key is not None:
            self.parts.append(part)

    def end(self, tag: str) -> None:
        match tag.rpartition("}")[2]:
            case "data":
                if self.current is not None and self.key is not None:
                    self.current[self.names.get(self.key, self.key)] = "".join(self.parts)
                self.key = None
            case "node" | "edge":
                self.current = None

    def refuse(self, *_: object) -> None:
        raise BadInput("it has a document type, which GraphML does not need")


def _read_graph(file: Path) -> _Graph:
    graph = _Graph()
    if not file.is_file():
        return graph
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = graph.start, graph.end
    parser.CharacterDataHandler = graph.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = graph.refuse
    try:
        parser.ParseFile(io.BytesIO(_read_bounded(file)))
    except (expat.ExpatError, ValueError) as exc:
        raise BadInput(f"{file} is not valid GraphML: {exc}") from exc
    except BadInput as exc:
        raise BadInput(f"{file} is not accepted: {exc.message}") from exc
    return graph
