"""Reads a chunk line by line: headings, `Key: value` pairs, tables and sentences. Remembers the object that the text is about."""

import re
from collections.abc import Iterable, Sequence

from whence.chunk import sentences
from whence.offline.rules import word_lists as lists
from whence.offline.rules.findings import Findings, Subject
from whence.offline.rules.shapes import bare, first_date, identified, is_name
from whence.offline.rules.statements import add_named_in, add_people, add_person, read_definition, relate
from whence.text.tables import Table, read_table

_LABEL_LEVEL = 7
"""The level of a line that only looks like a heading. Markdown has six levels."""
_LONGEST_LABEL = 60
_FEW_WORDS = 4

_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<text>.*?)[\s#]*")
_UNDERLINE = re.compile(r"\s{0,3}(?:(?P<first>=)=+|-{3,})\s*")
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<bold>[^*_:]{2,60}):?(?:\*\*|__):?|(?P<colon>[A-Z][\w /&'’-]{1,40}):|(?P<capitals>[A-Z0-9§][A-Z0-9 .&'’/-]{3,60})"
)
_ITEM = re.compile(
    r"\s*(?:[-*+•]|\d{1,3}[.)]|\((?:\d{1,3}|[a-z])\)|\d{1,3}(?:\.\d{1,3})+\.?)\s+(?:\[[ xX]?\]\s+)?(?P<text>\S.*)"
)
# `Key: value`, also with the key in bold or as code, or with a dash instead of the colon.
_PAIR = re.compile(
    r"(?P<mark>\*\*|__|`|)(?P<key>[^\W\d_][\w /&'’()-]{0,58}[\w)])(?:(?P=mark)\s?:|:(?P=mark)|(?P=mark)\s(?P<dash>[–—-]))\s+(?P<value>\S.*)"
)
# Such as "… (Priority: low; Owner: Jane Doe)" and "… Priority: low."
_INLINE_PAIR = re.compile(
    r"(?:(?<=[.;,(])\s?|\A)(?P<key>[^\W\d_]\w{1,20}(?:\s[a-z]{1,12})?):\s(?P<value>\S.{0,80}?)(?=[.;,)]+(?:\s|\Z)|\Z)"
)
_SKIPPED = re.compile(r"\s*(?:\Z|[|>]|[-=*_]{3,}\s*$|<!--)")
# `2.1` of the heading `2.1 Receiving`.
_NUMBERED = re.compile(r"\A(?:§\s?)?\d+(?:\.\d+)*[.)]?\s+")


class Reader:
    def __init__(self, findings: Findings, titles: Iterable[str]) -> None:
        self._findings = findings
        self._trail = list(enumerate(titles, start=1))
        """The headings above, each with its level."""
        self._about: Subject | None = None
        """The object that the next pairs belong to."""
        self._paragraph: list[str] = []

    def read(self, lines: Sequence[str], head: str) -> None:
        """`head` is the head of a table that began in an earlier chunk."""
        at = 0
        while at < len(lines):
            table = read_table(lines, at, head, accepts=self._findings.vocabulary.type_of_rows)
            if table:
                self._end_paragraph()
                self._read_rows(table)
            else:
                self._read_line(lines, at)
            at = table.end if table else at + 1
            head = ""
        self._end_paragraph()

    def _read_line(self, lines: Sequence[str], at: int) -> None:
        line = lines[at]
        text = _drop_bullet(line).strip()
        is_item = text != line.strip()
        is_skipped = _SKIPPED.match(line) is not None
        heading = _heading_at(lines, at)
        pair = None if identified(text) else _PAIR.fullmatch(text)
        if heading or pair or is_skipped or is_item or identified(line):
            self._end_paragraph()
        if heading:
            self._read_heading(*heading)
        elif pair:
            self._read_pair(pair)
        elif not is_skipped:
            self._paragraph.append(line)

    def _end_paragraph(self) -> None:
        """Reads its sentences. An identifier that begins a paragraph belongs to its first sentence."""
        if not self._paragraph:
            return
        text = " ".join(" ".join(map(_drop_bullet, self._paragraph)).split())
        self._paragraph = []
        leading = identified(text)
        start = len(text) - len(leading[1]) if leading else 0
        for at, sentence in enumerate(sentences(text[start:])):
            whole = text[:start] + sentence.text if at == 0 else sentence.text
            self._read_sentence(whole.strip(), begins=at == 0)

    def _is_below(self, words: frozenset[str]) -> bool:
        return any(_has_word(title, words) for _, title in self._trail)

    def _read_heading(self, level: int, text: str) -> None:
        while self._trail and self._trail[-1][0] >= level:
            self._trail.pop()
        self._trail.append((level, text))
        about = self._read_title(_NUMBERED.sub("", text))
        if about is not None or level < _LABEL_LEVEL:
            self._about = about

    def _read_title(self, title: str) -> Subject | None:
        if found := identified(title):
            return self._identify(*found)
        if _has_word(title, lists.LISTS["event_words"]) and (date := first_date(title)):
            return self._findings.add_kind("event", title, {"date": date})
        return None

    def _identify(self, identifier: str, text: str) -> Subject | None:
        """`REQ-12: The system must …`, as a line or as a heading."""
        subject = self._findings.add(self._findings.vocabulary.type_identified(identifier, text), identifier)
        if subject is not None:
            self._findings.set_property(subject, "description", self._add_inline_pairs(text, subject))
            self._about = subject
        return subject

    def _add_inline_pairs(self, text: str, subject: Subject) -> str:
        """Adds the pairs inside a sentence. Returns the text before the first."""
        pairs = [
            pair
            for pair in _INLINE_PAIR.finditer(text)
            if self._add_property(subject, pair["key"], pair["value"])
        ]
        return text[: pairs[0].start()].rstrip(" ,;(") if pairs else text

    def _add_property(self, subject: Subject, key: str, value: str) -> bool:
        has_people = self._add_people(key, value, subject)
        is_set = self._findings.set_property(subject, key, value) or relate(
            subject, key, value, self._findings
        )
        return is_set or has_people

    def _add_people(self, key: str, value: str, subject: Subject | None) -> bool:
        """Adds the people and organizations after a key such as `Owner` or `Attendees`. False if there are none."""
        names = add_people(value, self._findings) if key.lower() in lists.PEOPLE_KEYS else []
        if subject is not None and key.lower() in lists.LISTS["owner_keys"]:
            for name in names:
                relation = self._findings.vocabulary.relation_of("owns")
                self._findings.link(relation, name, self._findings.name_of(subject))
        return bool(names)

    def _read_pair(self, pair: re.Match[str]) -> None:
        key, value = pair["key"], pair["value"]
        is_dashed = bool(pair["dash"]) and not pair["mark"]
        if self._is_below(lists.LISTS["term_headings"]) and key.lower() not in lists.NO_TERMS:
            self._findings.add_kind("concept", key, {"description": value})
        elif is_dashed or not self._add_pair(key, value):
            self._read_sentence(pair[0], begins=True)

    def _add_pair(self, key: str, value: str) -> bool:
        """Adds a property of the last object, or an object if the key names a type. False if it is neither."""
        if self._about is not None and self._add_property(self._about, key, value):
            return True
        vocabulary = self._findings.vocabulary
        type_name = vocabulary.type_named(key)
        # `Requirement: OAuth 2.0` may have any value; people, organizations and places need a proper name.
        proper = map(vocabulary.type_of, ("person", "organization", "place"))
        if type_name is None or (type_name in proper and not is_name(value)):
            return self._add_people(key, value, None)
        self._about = self._findings.add(type_name, value) or self._about
        return True

    def _read_sentence(self, text: str, *, begins: bool) -> None:
        findings = self._findings
        if begins and (found := identified(text)) and not found[1][:1].islower():
            self._identify(*found)
        elif self._about is None or self._add_inline_pairs(text, self._about) == text:
            title = self._trail[0][1] if self._trail else ""
            self._about = read_definition(text, title, findings) or self._about
        for pair in _INLINE_PAIR.finditer(text):
            self._add_people(pair["key"], pair["value"], None)
        if self._is_below(lists.LISTS["people_keys"]):
            add_person(text, findings)
        add_named_in(text, findings)

    def _read_rows(self, table: Table) -> None:
        """Adds one object for each row, if column heads and heading give the type of the rows."""
        findings, heading = self._findings, _NUMBERED.sub("", self._trail[-1][1]) if self._trail else ""
        heads = [bare(head) for head in table.heads]
        rows = [[bare(cell.replace("\\|", "|")) for cell in row] for row in table.rows]
        column = self._name_column(heads, rows)
        names = [row[column] for row in rows if row[column]]
        type_name = findings.vocabulary.type_of_rows(heads, names, heading)
        if type_name is None:
            return
        subjects = [findings.add(type_name, row[column]) for row in rows]
        for row, subject in zip(rows, subjects, strict=True):
            for at, (head, cell) in enumerate(zip(heads, row, strict=True)):
                if subject is not None and at != column and any(map(str.isalnum, cell)):
                    self._add_cell(subject, head, cell)

    def _add_cell(self, subject: Subject, head: str, cell: str) -> None:
        self._add_people(head, cell, subject)
        if not relate(subject, head, cell, self._findings):
            is_statement = self._findings.vocabulary.type_named(head) == subject.type
            self._findings.set_property(
                subject, "description" if is_statement else head, cell, is_additional=True
            )

    def _name_column(self, heads: list[str], rows: list[list[str]]) -> int:
        """The column with the names: one headed as such, one headed with a type, or the first. Skips columns of plain numbers."""
        by_name = [at for at, head in enumerate(heads) if head.lower() in lists.LISTS["name_heads"]]
        by_type = [at for at, head in enumerate(heads) if self._findings.vocabulary.type_named(head)]
        candidates = [*by_name, *by_type, *range(len(heads))]
        return next((at for at in candidates if any(map(str.isalpha, "".join(row[at] for row in rows)))), 0)


def _heading_at(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """The level and the text of the heading at this line."""
    line = lines[at]
    if found := _HEADING.fullmatch(line):
        return len(found["level"]), bare(found["text"])
    is_apart = at == 0 or not lines[at - 1].strip()
    if not is_apart or _SKIPPED.match(line):
        return None
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if underline := _UNDERLINE.fullmatch(after):
        return (1 if underline["first"] else 2), bare(line)
    label = _LABEL.fullmatch(line.strip()) if len(line) <= _LONGEST_LABEL else None
    if label is None or (label["colon"] and len(line.split()) > _FEW_WORDS):
        return None
    return _LABEL_LEVEL, label["bold"] or label["colon"] or label["capitals"]


def _drop_bullet(line: str) -> str:
    found = _ITEM.fullmatch(line)
    return found["text"] if found else line


def _has_word(title: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(re.split(r"[\s:,()]+", title.lower()))
