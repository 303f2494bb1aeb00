"""An extractor that needs no model: rules for what documents say in a fixed form.

Deterministic, and rather silent than wrong. It finds requirements, with an identifier or among others, decisions and tasks, defined
terms, parties to a contract and what they must do, people and organizations named with what they are, components, events with
a date, `Key: value` lines below what they are about, and relations between things that stand right beside the verb. Its reply
has the shape of a model's and goes through the same merge.

    blocks        a text as headings, rows, pairs and sentences
    sections      what the headings above say       place       where the reader is
    lines         rules for headings and pairs      tables      for rows        sentences   for sentences
    parties       contracts                         tasks       to be done      people      alone and in lists
    modals        how much is demanded              priorities  how much that is said to matter
    identifiers   which are those of requirements   topics      what a heading identifies
    records       of decisions, section by section
    shorten       a name for a long sentence
    asides        what is told beside the way       relations   a verb between two names        parts       what acts like a part
    cues, words   the shapes and words that they go by
    vocabulary    the schema's words for what is found          findings    what was found, as a reply
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from whence.extract.context import ExtractionContext
from whence.extract.rules.blocks import Block, blocks
from whence.extract.rules.findings import Findings
from whence.extract.rules.identifiers import trusted
from whence.extract.rules.lines import heading, pair
from whence.extract.rules.parties import remember_parties
from whence.extract.rules.place import Place
from whence.extract.rules.records import is_record, resume_record
from whence.extract.rules.relations import relations
from whence.extract.rules.sections import Sections
from whence.extract.rules.sentences import sentence
from whence.extract.rules.tables import row
from whence.extract.rules.topics import resume_topic
from whence.extract.rules.vocabulary import Vocabulary
from whence.extract.schema import Schema

__all__ = ["propose"]

_FEW = 8
"""Blocks below a title in which its date may stand."""


def propose(schema: Schema, context: ExtractionContext) -> dict[str, Any]:
    """`{"objects": [...], "relationships": [...]}`, from the primary chunk alone; what is around it only helps to understand."""
    vocabulary = Vocabulary(schema)
    findings = Findings(vocabulary, context.objects)
    remember_parties(context.objects, context.chunks, findings)
    place = Place(Sections(context.primary.headings))
    found = list(blocks(context.primary.text))
    requirements = [each.name for each in context.objects if each.type == vocabulary.type_of("requirement")]
    findings.trusted = trusted(found, context.primary.headings, requirements)
    place.is_record = is_record(found)
    resume_topic(place, findings)
    resume_record(place, findings)
    for block, below in zip(found, _below(found), strict=True):
        match block.kind:
            case "heading":
                heading(block, below, place, findings)
            case "pair":
                pair(block, below, place, findings)
            case "row":
                row(block, place, findings)
            case "sentence":
                sentence(block, place, findings)
        place.before = "" if block.kind == "heading" else block.text
    relations(found, findings)
    return findings.reply()


def _below(found: list[Block]) -> Iterator[list[Block]]:
    """For each block the few that follow it before the next heading."""
    for at in range(len(found)):
        yield list(takewhile(lambda each: each.kind != "heading", found[at + 1 : at + 1 + _FEW]))
