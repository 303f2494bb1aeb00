"""An extractor without a model. It finds statements in a fixed form.

    reader        headings, pairs, tables and identifiers, in reading order
    statements    definitions, people, organizations and `Depends on: Y`
    vocabulary    maps words of a document to the schema    shapes       of names, identifiers and dates
    findings      collects the results as a reply           word_lists   word lists of the rules

It is deterministic and quotes the chunk: every value it proposes is in the text. Its reply has the shape of a model's and goes
through the same merge.
"""

from typing import Any

from whence.extract.context import ExtractionContext
from whence.extract.schema import Schema
from whence.offline.rules.findings import Findings
from whence.offline.rules.reader import Reader
from whence.offline.rules.vocabulary import Vocabulary
from whence.text.tables import is_whole_row

__all__ = ["propose"]


def propose(schema: Schema, context: ExtractionContext) -> dict[str, Any]:
    """`{"objects": [...], "relationships": [...]}`, from the primary chunk alone."""
    findings = Findings(Vocabulary(schema), context.objects)
    Reader(findings, context.primary.headings).read(_drop_cut_rows(context), context.primary.table_head)
    return findings.reply()


def _drop_cut_rows(context: ExtractionContext) -> list[str]:
    """The lines of the primary chunk without table rows that its start or end cuts in two."""
    lines = _drop_code(context.primary.text)
    head = context.primary.table_head
    ends = [line for each in context.previous[:1] for line in each.text.splitlines()[-1:]]
    if head and not all(is_whole_row(head, line) for line in (*lines[:1], *ends)):
        lines = lines[1:]
    for after in context.next[:1]:
        if after.table_head and not is_whole_row(after.table_head, "".join(after.text.splitlines()[:1])):
            lines = lines[:-1]
    return lines


def _drop_code(text: str) -> list[str]:
    """The lines of the text, with an empty one for each line of code."""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_code ^= is_fence
        lines.append("" if is_code or is_fence else line)
    return lines
