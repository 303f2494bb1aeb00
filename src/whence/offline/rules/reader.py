"""Reads the blocks of a chunk in order and remembers what the text is about."""

import re
from collections.abc import Iterable

from whence.offline.rules import word_lists as lists
from whence.offline.rules.blocks import LABEL, Block, drop_number
from whence.offline.rules.definitions import read_definition
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.listed import add_listed_people, add_named_in, add_person, relate_listed
from whence.offline.rules.shapes import bare, ends_like_component, first_date, identified, is_name
from whence.text.tables import Table

_PART_NAME = re.compile(r"[^\W_][\w.+/-]*(?:\s[^\W_][\w.+/-]*){0,3}")
# Such as "… (Priority: low; Owner: Jane Doe)" and "… Priority: low."
_INLINE_PAIR = re.compile(
    r"(?:(?<=[.;,(])\s?|\A)(?P<key>[^\W\d_]\w{1,20}(?:\s[a-z]{1,12})?):\s(?P<value>\S.{0,80}?)(?=[.;,)]+(?:\s|\Z)|\Z)"
)
# Such as "Decision 3: API contract".
_TYPED = re.compile(r"(?P<key>[^\W\d_][\w ]{1,30}?)(?:\s#?\d{1,4}[a-z]?)?\s?:\s+(?P<name>\S.*)")


class Reader:
    def __init__(self, findings: Findings, titles: Iterable[str]) -> None:
        self._findings = findings
        self._trail = list(enumerate(titles, start=1))
        """The headings above, each with its level."""
        self._about: Subject | None = None
        """The object that the next pairs belong to."""
        self._event: Subject | None = None
        """The event that attendees take part in."""

    def read(self, block: Block) -> None:
        match block.kind:
            case "heading":
                self._read_heading(block)
            case "pair":
                self._read_pair(block)
            case "sentence":
                self._read_sentence(block)
            case "table" if block.table is not None:
                _read_rows(
                    block.table, drop_number(self._trail[-1][1]) if self._trail else "", self._findings
                )

    def _is_below(self, words: frozenset[str]) -> bool:
        return any(has_word(title, words) for _, title in self._trail)

    def _is_below_parts(self) -> bool:
        """Below `Components` or `System components`. A longer heading only talks about them."""
        titles = (drop_number(title).lower().split() for _, title in self._trail)
        return any(words[-1] in lists.LISTS["part_headings"] for words in titles if len(words) in (1, 2))

    def _read_heading(self, block: Block) -> None:
        while self._trail and self._trail[-1][0] >= block.level:
            self._trail.pop()
        is_part = block.level < LABEL and self._is_below_parts()
        self._trail.append((block.level, block.text))
        title = drop_number(block.text)
        about = self._read_title(title)
        if about is None and is_part and _is_part_name(title):
            about = self._findings.add_kind("component", title)
        if about is not None or block.level < LABEL:
            self._about = about

    def _read_title(self, title: str) -> Subject | None:
        findings = self._findings
        if found := identified(title):
            return self._identify(*found)
        typed = _TYPED.fullmatch(title)
        if typed and (type_name := findings.vocabulary.type_named(typed["key"])):
            return findings.add(type_name, typed["name"])
        if has_word(title, lists.LISTS["event_words"]) and (date := first_date(title)):
            self._event = findings.add_kind("event", title, {"date": date})
            return self._event
        if ends_like_component(title) and title.split(maxsplit=1)[0].lower() not in lists.NO_PARTS:
            return findings.add_kind("component", title)
        return None

    def _identify(self, identifier: str, text: str) -> Subject | None:
        """`REQ-12: The system must …`, as a line or as a heading."""
        is_expected = self._is_below(lists.LISTS["requirement_headings"])
        type_name = self._findings.vocabulary.type_identified(identifier, text, is_expected=is_expected)
        subject = self._findings.add(type_name, identifier)
        if subject is not None:
            self._findings.tell(subject, "description", self._tell_inline(text, subject))
            self._about = subject
        return subject

    def _tell_inline(self, text: str, subject: Subject) -> str:
        """Adds the pairs inside a sentence. Returns the text before the first."""
        told = [
            pair for pair in _INLINE_PAIR.finditer(text) if self._tell(subject, pair["key"], pair["value"])
        ]
        return text[: told[0].start()].rstrip(" ,;(") if told else text

    def _tell(self, subject: Subject, key: str, value: str) -> bool:
        add_listed_people(key, value, self._findings, owned=subject)
        return self._findings.tell(subject, key, value) or relate_listed(subject, key, value, self._findings)

    def _read_pair(self, block: Block) -> None:
        key, value, findings = block.key, block.value, self._findings
        if self._is_below(lists.LISTS["term_headings"]) and key.lower() not in lists.NO_TERMS:
            findings.add_kind("concept", key, {"description": value})
        elif block.is_entry and self._is_below_parts() and _is_part_name(key):
            findings.add_kind("component", key, {"description": value})
        elif block.is_dashed:
            self._read_prose(block)
        elif key.lower() in lists.LISTS["present_keys"]:
            add_listed_people(key, value, findings, event=self._event)
        elif self._about is not None and self._tell(self._about, key, value):
            return
        elif (type_name := findings.vocabulary.type_named(key)) and self._is_value_of(type_name, value):
            self._about = findings.add(type_name, value) or self._about
        else:
            add_listed_people(key, value, findings)
            self._read_prose(block)

    def _is_value_of(self, type_name: str, value: str) -> bool:
        """`Requirement: OAuth 2.0` may have any value; people, organizations and places need a proper name."""
        proper = map(self._findings.vocabulary.type_of, ("person", "organization", "place"))
        return type_name not in proper or is_name(value)

    def _read_prose(self, block: Block) -> None:
        self._read_sentence(Block(kind="sentence", text=block.text, is_item=block.is_item, begins=True))

    def _read_sentence(self, block: Block) -> None:
        text, findings = block.text, self._findings
        if block.begins and (found := identified(text)) and not found[1][:1].islower():
            self._identify(*found)
        elif block.is_item and self._is_below(lists.LISTS["present_keys"]):
            add_person(text, findings, event=self._event)
        elif self._about is None or self._tell_inline(text, self._about) == text:
            title = self._trail[0][1] if self._trail else ""
            self._about = read_definition(text, title, findings) or self._about
        for pair in _INLINE_PAIR.finditer(text):
            add_listed_people(pair["key"], pair["value"], findings)
        add_named_in(text, findings)


def has_word(title: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(re.split(r"[\s:,()]+", title.lower()))


def _is_part_name(text: str) -> bool:
    return _PART_NAME.fullmatch(text) is not None and lists.NO_PARTS.isdisjoint(text.lower().split())


def _read_rows(table: Table, heading: str, findings: Findings) -> None:
    """Adds one object for each row, if column heads and heading give the type of the rows."""
    heads = [bare(head) for head in table.heads]
    rows = [[bare(cell.replace("\\|", "|")) for cell in row] for row in table.rows]
    column = _name_column(heads, rows, findings)
    names = [row[column] for row in rows if row[column]]
    type_name = findings.vocabulary.type_of_rows(heads, names, heading)
    if type_name is None:
        return
    subjects = [findings.add(type_name, row[column]) for row in rows]
    for row, subject in zip(rows, subjects, strict=True):
        if subject is not None:
            cells = [cell for at, cell in enumerate(zip(heads, row, strict=True)) if at != column]
            _tell_cells(cells, subject, findings)


def _tell_cells(cells: list[tuple[str, str]], subject: Subject, findings: Findings) -> None:
    for head, cell in cells:
        if not any(map(str.isalnum, cell)):
            continue
        add_listed_people(head, cell, findings, owned=subject)
        if relate_listed(subject, head, cell, findings):
            continue
        is_statement = findings.vocabulary.type_named(head) == subject.type
        findings.tell(subject, "description" if is_statement else head, cell, is_additional=True)


def _name_column(heads: list[str], rows: list[list[str]], findings: Findings) -> int:
    """The column with the names: one headed as such, one headed with a type, or the first. Skips columns of plain numbers."""
    by_name = [at for at, head in enumerate(heads) if head.lower() in lists.LISTS["name_heads"]]
    by_type = [at for at, head in enumerate(heads) if findings.vocabulary.type_named(head)]
    candidates = [*by_name, *by_type, *range(len(heads))]
    return next((at for at in candidates if not _are_numbers(row[at] for row in rows)), 0)


def _are_numbers(cells: Iterable[str]) -> bool:
    return not any(any(map(str.isalpha, cell)) for cell in cells)
