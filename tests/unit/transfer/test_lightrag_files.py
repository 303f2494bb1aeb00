"""Working directories of LightRAG, also damaged and hostile ones."""

import json
import shutil
from pathlib import Path

import pytest

from whence.errors import BadInput
from whence.extract.imported import ImportedExtractor
from whence.transfer.lightrag_files import GRAPH, read_working_directory

DIRECTORIES = Path(__file__).parents[2] / "files" / "lightrag"
BOMB = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><graphml>&b;</graphml>"""
OUTSIDE = (
    """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><graphml>&x;</graphml>"""
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DIRECTORIES / "new", tmp_path / "lightrag"))


@pytest.mark.parametrize("version", ["new", "old"])
def test_both_formats_say_the_same(version: str) -> None:
    found = read_working_directory(DIRECTORIES / version)
    names = {one.id: one.name for one in found.documents}
    assert sorted(names.values()) == ["billing.md", "people.md"]
    entities = {one.name: sorted(names[ident] for ident in one.documents) for one in found.entities}
    assert entities["Ada Quill"] == ["billing.md", "people.md"]
    assert entities["Bergen"] == ["people.md"]
    assert {frozenset((one.source, one.target)): one.keywords for one in found.relations} == {
        frozenset(("Ada Quill", "Team Heron")): "leads",
        frozenset(("Billing Service", "Ledger Store")): "depends on",
        frozenset(("Billing Service", "Zorblax")): "mentions",
    }


@pytest.mark.parametrize("graph", [BOMB, OUTSIDE])
def test_no_entity_is_expanded(graph: str, folder: Path) -> None:
    (folder / GRAPH).write_text(graph)
    with pytest.raises(BadInput, match="it has a document type"):
        read_working_directory(folder)


@pytest.mark.parametrize("graph", ["", "<graphml>", "not xml", "\0", "<graphml><node id='a'></graphml>"])
def test_damaged_graph(graph: str, folder: Path) -> None:
    (folder / GRAPH).write_text(graph)
    with pytest.raises(BadInput, match="is not valid GraphML"):
        read_working_directory(folder)


@pytest.mark.parametrize("content", ["{", "[]", '{"doc-1": 1}'])
def test_damaged_store(content: str, folder: Path) -> None:
    (folder / "kv_store_text_chunks.json").write_text(content)
    with pytest.raises(BadInput, match=r"kv_store_text_chunks\.json is not"):
        read_working_directory(folder)


def test_without_a_graph_and_with_other_forms(folder: Path) -> None:
    """Documents that LightRAG keeps in another form are made of their chunks; one without any text is named."""
    (folder / GRAPH).unlink()
    file = folder / "kv_store_full_docs.json"
    documents = json.loads(file.read_text())
    (people, billing) = documents
    documents[billing] |= {"parse_format": "lightrag", "content": "", "file_path": "in/x/report.pdf"}
    documents[people]["file_path"] = "unknown_source"
    documents["doc-empty"] = {"content": " "}
    file.write_text(json.dumps(documents))
    found = read_working_directory(folder)
    assert (found.entities, found.unread) == ((), (("doc-empty", "it has no text"),))
    assert [one.name for one in found.documents] == [f"{people}.txt", "report.pdf"]
    assert found.documents[1].text.startswith("# Billing\n\nBilling Service")


@pytest.mark.parametrize("place", ["x", [], {}, None, 1.5])
def test_a_chunk_without_a_valid_place(place: object, folder: Path) -> None:
    documents, chunks = (folder / f"kv_store_{name}.json" for name in ("full_docs", "text_chunks"))
    other = {ident: {"parse_format": "lightrag"} for ident in json.loads(documents.read_text())}
    documents.write_text(json.dumps(other))
    kept = json.loads(chunks.read_text())
    chunks.write_text(json.dumps({ident: {**one, "chunk_order_index": place} for ident, one in kept.items()}))
    assert len(read_working_directory(folder).documents) == len(other)


def test_proposals_of_a_chunk() -> None:
    """Objects that it names, with the nearest description; relationships with both ends in it. Nothing is withdrawn."""
    ada = {"type": "Person", "name": "Ada Quill", "descriptions": ["She sails.", "Leads the team Heron."]}
    bergen = {"type": "Location", "name": "Bergen", "descriptions": []}
    tie = {"source": "Ada Quill", "target": "Bergen", "descriptions": ["lives in"]}
    reply = ImportedExtractor([ada, bergen], [tie]).propose("ADA  QUILL leads Heron.")
    assert [one.given for one in reply.objects] == [
        {"type": "Person", "name": "Ada Quill", "description": "Leads the team Heron."}
    ]
    assert (reply.relationships, reply.is_cut) == ((), True)
    assert len(ImportedExtractor([ada, bergen], [tie]).propose("Ada Quill, Bergen").relationships) == 1
    assert ImportedExtractor([ada], []).propose("Nobody.").objects == ()
