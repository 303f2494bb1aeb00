"""An extractor that needs no model: rules for what documents say in a fixed form.

Deterministic, and rather silent than wrong. It finds requirements with an identifier, decisions, defined terms, people
and organizations named with what they are, components, events with a date, `Key: value` lines below what they are about,
and relations between things that stand right beside the verb. Its reply has the shape of a model's and goes through
the same merge.

    blocks        a text as headings, pairs and sentences
    lines         rules for headings and pairs          sentences   rules for sentences
    relations     a verb between two names              people      lists of them
    cues          the words and shapes that they go by
    vocabulary    the schema's words for what is found  findings    what was found, as a reply
"""

from typing import Any

from whence.extract.context import ExtractionContext
from whence.extract.rules.blocks import blocks
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.lines import heading, pair
from whence.extract.rules.relations import relations
from whence.extract.rules.sentences import sentence
from whence.extract.rules.vocabulary import Vocabulary
from whence.extract.schema import Schema

__all__ = ["propose"]


def propose(schema: Schema, context: ExtractionContext) -> dict[str, Any]:
    """`{"objects": [...], "relationships": [...]}`, from the primary chunk alone."""
    findings = Findings(Vocabulary(schema), context.objects)
    found = list(blocks(context.primary.text))
    about: Subject | None = None
    for block in found:
        match block.kind:
            case "heading":
                about = heading(block.text, findings)
            case "pair":
                about = pair(block, about, findings)
            case "sentence":
                about = sentence(block.text, about, findings)
    relations(found, findings)
    return findings.reply()
