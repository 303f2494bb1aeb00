"""Which identifiers are those of requirements: by their prefix, or by what the others with it demand."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import IDENTIFIER, REQUIREMENT
from whence.extract.rules.modals import demands
from whence.extract.rules.sections import LABEL, Sections, unnumbered
from whence.extract.rules.words import NO_REQUIREMENTS, REQUIREMENT_PREFIXES, STANDARDS, TASK_PREFIXES

_IDENTIFIER = re.compile(IDENTIFIER)
_PREFIX = re.compile(r"[A-Z]+(?:-[A-Z]+)?")
_SEVERAL = 2


def prefix_of(identifier: str) -> str:
    found = _PREFIX.match(identifier)
    return found[0] if found else ""


def is_usual(prefix: str) -> bool:
    return prefix.partition("-")[0] in REQUIREMENT_PREFIXES


def is_standard(prefix: str) -> bool:
    """`ISO-9001`, `UTF-8`: what has a number in the world, and none in the document."""
    return prefix.partition("-")[0] in STANDARDS


def trusted(found: Sequence[Block], titles: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Prefixes of which one identifier begins a line that demands something, or is known for it, or several stand among requirements.

    `known` are the names of requirements that the graph has.
    """
    numbers: defaultdict[str, set[str]] = defaultdict(set)
    demanding = {prefix_of(name) for name in known if _IDENTIFIER.fullmatch(name)}
    for identifier, text, is_expected in _identified(found, Sections(titles)):
        prefix = prefix_of(identifier)
        if demands(text) and "-" in identifier:
            demanding.add(prefix)
        elif demands(text) or is_expected:  # one alone, such as "A4: …", may be anything
            numbers[prefix].add(identifier)
    several = {prefix for prefix, each in numbers.items() if len(each) >= _SEVERAL}
    return frozenset(
        prefix
        for prefix in demanding | several
        if prefix.partition("-")[0] not in STANDARDS | NO_REQUIREMENTS | TASK_PREFIXES
    )


def _identified(found: Sequence[Block], sections: Sections) -> Iterator[tuple[str, str, bool]]:
    """Identifiers with what they identify, and whether they stand among requirements; of a heading with what is below it."""
    heading = ""
    for block in found:
        if block.kind == "heading":
            sections.enter(block.level, block.text)
        if block.kind == "row":
            cells = [cell for _, cell in block.cells]
            line = " ".join(cells) if cells and _IDENTIFIER.fullmatch(cells[0]) else ""
        else:
            line = unnumbered(block.text) if block.kind == "heading" else block.text
        begins = block.kind != "sentence" or block.begins
        identified = REQUIREMENT.fullmatch(line) if begins else None
        if block.kind == "heading" and block.level < LABEL:
            heading = identified["id"] if identified else ""
        if identified is not None:
            yield identified["id"], identified["text"], sections.kind == "requirements"
        elif heading:
            yield heading, block.text, False
