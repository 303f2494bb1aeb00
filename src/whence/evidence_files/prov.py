"""An evidence file as data: W3C PROV-JSON for the origins, and Web Annotations for the places. Pure."""

from typing import Any

from whence.evidence_files.proofs import EvidenceFile, Proof
from whence.parse.detect import PDF

_PREFIX = {
    "prov": "http://www.w3.org/ns/prov#",
    "whence": "urn:whence:",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_CONTEXT = 40


def as_json(file: EvidenceFile) -> dict[str, Any]:
    """`prov` is a PROV-JSON document, `annotations` are Web Annotations of the quotes."""
    proofs = [(statement.text, proof) for statement in file.statements for proof in statement.proofs]
    return {
        "prov": _provenance(file, [proof for _, proof in proofs]),
        "annotations": [
            _annotation(f"urn:whence:quote-{file.id}-{number}", *one) for number, one in enumerate(proofs, 1)
        ],
    }


def _provenance(file: EvidenceFile, proofs: list[Proof]) -> dict[str, Any]:
    result = f"whence:{file.kind}-{file.id}"
    agents = {
        f"whence:agent-{number}": {
            "prov:type": {"$": f"prov:{kind}", "type": "prov:QUALIFIED_NAME"},
            "prov:label": name,
        }
        for number, (kind, name) in enumerate(
            [*(("SoftwareAgent", one) for one in file.authors), *(("Person", one) for one in file.people)], 1
        )
    }
    documents = {_document(proof): proof for proof in proofs}
    entities: dict[str, Any] = {
        result: {
            "prov:type": {"$": f"whence:{file.kind}", "type": "prov:QUALIFIED_NAME"},
            "prov:label": file.title,
            "whence:madeAt": {"$": file.made_at.isoformat(), "type": "xsd:dateTime"},
        }
    }
    if file.text:
        entities[result]["prov:value"] = file.text
    for name, proof in documents.items():
        entities[name] = {"prov:label": proof.document_name, "whence:version": proof.version or 0}
        if proof.url:
            entities[name]["prov:location"] = _link(proof)
    derived: dict[str, Any] = {}
    for number, proof in enumerate(proofs, 1):
        quote = f"whence:quote-{file.id}-{number}"
        entities[quote] = {
            "prov:value": proof.quote,
            **{f"whence:{name}": said for name, said in proof.facts.items()},
        }
        derived[f"_:q{number}"] = {
            "prov:generatedEntity": quote,
            "prov:usedEntity": _document(proof),
            "prov:type": {"$": "prov:Quotation", "type": "prov:QUALIFIED_NAME"},
        }
        derived[f"_:d{number}"] = {"prov:generatedEntity": result, "prov:usedEntity": quote}
    return {
        "prefix": _PREFIX,
        "entity": entities,
        "agent": agents,
        "wasDerivedFrom": derived,
        "wasAttributedTo": {
            f"_:a{number}": {"prov:entity": result, "prov:agent": name}
            for number, name in enumerate(agents, 1)
        },
    }


def _annotation(ident: str, statement: str, proof: Proof) -> dict[str, Any]:
    before, after = ("", "") if proof.span is None else (proof.span.before, proof.span.after)
    quote = {
        "type": "TextQuoteSelector",
        "exact": proof.quote,
        "prefix": before[-_CONTEXT:],
        "suffix": after[:_CONTEXT],
    }
    selectors: list[dict[str, Any]] = [quote]
    if proof.start is not None and proof.end is not None:
        selectors.append({"type": "TextPositionSelector", "start": proof.start, "end": proof.end})
    is_pdf = proof.span is None or proof.span.file_type == PDF
    if proof.page is not None and is_pdf:
        pdf = "http://tools.ietf.org/rfc/rfc3778"
        selectors.append({"type": "FragmentSelector", "conformsTo": pdf, "value": f"page={proof.page}"})
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": ident,
        "type": "Annotation",
        "motivation": "linking",
        "body": {"type": "TextualBody", "value": statement, "format": "text/plain"},
        "target": {
            "source": _link(proof) if proof.url else _document(proof).replace("whence:", "urn:whence:"),
            "selector": selectors,
        },
    }


def _link(proof: Proof) -> str:
    """The address of the document's version, which the positions count in."""
    address = (proof.url or "").partition("?")[0]
    return address if proof.version is None else f"{address}?v={proof.version}"


def _document(proof: Proof) -> str:
    return f"whence:document-{proof.document_id}-v{proof.version or 0}"
