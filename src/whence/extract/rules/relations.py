"""Relations: a verb with a name right before it and names right behind it.

    The Checkout Service depends on the Payment Gateway and the Mail Queue.
    Jane Doe (CTO) works for Acme and reports to John Smith.
    Kestrel is a gateway. It is owned by the Platform Team.
    The Session Service stores sessions in Redis and depends on the Token Service.

A name is that of something found or known, or it gives itself away: by the words it ends with, or beside a verb that
takes people, places or parts of a system.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from whence.chunk import sentences
from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import (
    COMPONENT,
    FULL_NAME,
    NAME_OR_WORD,
    ORGANIZED,
    PASSIVES,
    VERBS,
)
from whence.extract.rules.findings import MAX_NAME, Findings
from whence.extract.rules.parts import parts
from whence.extract.rules.people import is_person
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import NO_NAMES, NO_PEOPLE, NO_PLACES, REQUIREMENT_PREFIXES

_BY = "by_"
_GROUPS = "|".join(
    [
        *(f"(?P<{word}>{verbs})" for word, verbs in VERBS.items()),
        *(
            f"(?P<{_BY}{word}>(?:(?:is|are|was|were|be)\\s)?(?:{verbs})\\sby)"
            for word, verbs in PASSIVES.items()
        ),
    ]
)
_VERB = re.compile(
    rf"\s(?:(?:must|shall|should|will|may|can|also|directly|currently)\s){{0,3}}(?:{_GROUPS})(?=\s)"
)
_ONLY_VERB = re.compile(_GROUPS)
# What may stand between a name and its verb: a role, or what the thing is.
_ASIDE = re.compile(r"(?:\s\([^()]{1,60}\)|,\s[^,.;:()]{1,60},)\Z")
_IS_A = re.compile(r"\s(?:is|are|was)\s(?:an?|the)\s(?:(?!\sand\s|\sbut\s)[^.,;:()]){1,60}\Z")
_THAT = re.compile(r"\s(?:that|which|who)\Z")
_AND_ALSO = re.compile(r",|,?\sand")
# A second verb, whose subject began the sentence: "The Checkout Service charges cards and uses …".
_FIRST_VERB = re.compile(r"\s(?!(?:is|was|has|does)\s)[a-z]+s\s")
_AND = re.compile(r",?\sand\Z")
_CLAUSE = re.compile(r"\b(?:that|which|who|when|if|because|while|where|since|as|so|but)\b|[;:]")
_PRONOUN = re.compile(r"(?:It|He|She|They)\Z")
_ARTICLE = re.compile(r"(?:(?:the|a|an|our|its)\s)?", re.IGNORECASE)
_LISTED = re.compile(r"(?:,\s(?:and\s)?|\s(?:and|&)\s)(?=\S)")
_WORD = re.compile(r"\S+\s?")
_OPENING = "\"“`*_'‘"
_CLOSING = "\"”`*_'’"
_LONGEST = 8
"""Words of a name."""
_NEAR = 300
"""Characters from the beginning of a sentence to its second verb."""
_COMPONENT = re.compile(COMPONENT)
_SYSTEMS: tuple[Role, ...] = ("component", "system")

_REQUIREMENT = rf"(?:{'|'.join(sorted(REQUIREMENT_PREFIXES))})(?:-[A-Z]{{1,8}})?-\d{{1,5}}(?:\.\d{{1,3}})*"
# What gives itself away beside any verb, and beside some.
_ANYWHERE: tuple[tuple[Role, str], ...] = (
    ("requirement", _REQUIREMENT),
    ("component", COMPONENT),
    ("organization", ORGANIZED),
)
_SOURCES: Mapping[str, tuple[tuple[Role, str], ...]] = {
    "reports_to": (("person", FULL_NAME),),
    "works_for": (("person", FULL_NAME),),
    "owns": (("person", FULL_NAME),),
}
_TARGETS: Mapping[str, tuple[tuple[Role, str], ...]] = {
    "reports_to": (("person", FULL_NAME),),
    "works_for": (("organization", NAME_OR_WORD),),
    "located_in": (("place", NAME_OR_WORD),),
}
_PARTS: tuple[tuple[Role, str], ...] = (("component", NAME_OR_WORD),)
"""What a part of a system depends on, or uses."""

_BEFORE = {
    word: [
        (role, re.compile(rf"(?<![\w-])(?P<name>{shape})\Z"))
        for role, shape in (*_ANYWHERE, *_SOURCES.get(word, ()))
    ]
    for word in VERBS
}


def _behind(*shapes: tuple[Role, str]) -> list[tuple[Role, re.Pattern[str]]]:
    return [(role, re.compile(rf"(?P<name>{shape})(?![\w-])")) for role, shape in shapes]


_AFTER = {word: _behind(*_ANYWHERE, *_TARGETS.get(word, ())) for word in VERBS}
_AFTER_BY = {**_AFTER, "owns": _behind(*_ANYWHERE, ("person", FULL_NAME))}
_AFTER_SYSTEMS = {
    **{word: [*_AFTER[word], *_behind(*_PARTS)] for word in ("depends_on", "uses", "replaces")},
    "part_of": [*_AFTER["part_of"], *_behind(("system", NAME_OR_WORD))],
}


class _Name(NamedTuple):
    name: str
    role: Role | None
    """What it would be, where nobody has spoken of it yet."""
    end: int


def relations(blocks: Sequence[Block], findings: Findings) -> None:
    """All that the text relates, once its objects are found."""
    before: _Name | None = None
    for block in blocks:
        for text in _statements(block):
            parts(text, findings)
    for block in blocks:
        subject = None if block.kind == "sentence" else _titled(block, findings)
        if block.kind != "sentence":
            before = subject
        for text in _statements(block):
            _relate(text, before, findings)
            before = _leading(text, findings) or (before if _begins_with_pronoun(text) else subject)
    for text in findings.noted:
        _relate(text, None, findings)


def as_sentence(source: str, key: str, value: str) -> str | None:
    """`Depends on: REQ-1, REQ-2` below REQ-3 says that REQ-3 depends on them, if the key is a verb."""
    verbs = (key.lower(), f"is {key.lower()}")
    verb = next((verb for verb in verbs if _ONLY_VERB.fullmatch(verb)), None)
    return None if verb is None else f"{source} {verb} {value}"


def _titled(block: Block, findings: Findings) -> _Name | None:
    """What a heading, or the key of a pair, has as its words: `It` below is that."""
    name = findings.named(block.key or block.text)
    return None if name is None else _Name(name, None, 0)


def _statements(block: Block) -> Iterator[str]:
    if block.kind == "pair":
        yield from (" ".join(each.text.split()) for each in sentences(block.value))
    elif block.kind == "sentence":
        yield block.text


def _relate(text: str, before: _Name | None, findings: Findings) -> None:
    last: tuple[_Name, int] | None = None
    for verb in _VERB.finditer(text):
        group = str(verb.lastgroup)
        word = group.removeprefix(_BY)
        source = _source(text, verb, before, last, findings)
        if source is None:
            continue
        targets = list(_targets(text, verb.end() + 1, word, source, findings, is_passive=group != word))
        for target in targets:
            one, other = (target, source) if group != word else (source, target)
            _link(word, one, other, findings)
        if targets:
            last = source, targets[-1].end


def _link(word: str, source: _Name, target: _Name, findings: Findings) -> None:
    if not findings.has_link(word):
        return
    for end in (source, target):
        if end.role is not None:
            findings.add(end.role, end.name)
    findings.link(word, source.name, target.name)


def _source(
    text: str,
    verb: re.Match[str],
    before: _Name | None,
    last: tuple[_Name, int] | None,
    findings: Findings,
) -> _Name | None:
    """`before` is what the sentence before began with, `last` the last source and where its targets end."""
    word = str(verb.lastgroup).removeprefix(_BY)
    left = text[max(0, verb.start() - 2 * MAX_NAME) : verb.start()]
    if last is not None and _AND_ALSO.fullmatch(text, last[1], verb.start()):
        return last[0]
    if before is not None and _PRONOUN.fullmatch(text[: verb.start()]):
        return before
    direct = _name_before(left, word, findings)
    if direct is not None:
        return direct
    is_second = _AND.search(left) is not None and verb.start() <= _NEAR
    if is_second and (first := _first(text[: verb.start()], before, findings)):
        return first
    return _described(left, verb, word, findings)


def _described(left: str, verb: re.Match[str], word: str, findings: Findings) -> _Name | None:
    """The name that a role, or what the thing is, stands behind."""
    if aside := _ASIDE.search(left):
        return _name_before(left[: aside.start()], word, findings)
    that = _THAT.search(left)
    if that is None and not verb[0].split()[0].endswith("ed"):
        return None
    described = _IS_A.search(left[: that.start()] if that else left)
    return _name_before(left[: described.start()], word, findings) if described else None


def _first(left: str, before: _Name | None, findings: Findings) -> _Name | None:
    """What the sentence began with, if it has said nothing else since but what that does."""
    if _CLAUSE.search(left):
        return None
    verb = _FIRST_VERB.search(left)
    if verb is None:
        return None
    if before is not None and _PRONOUN.fullmatch(left[: verb.start()]):
        return before
    article = _ARTICLE.match(left)
    name = left[article.end() if article else 0 : verb.start()]
    if (known := findings.named(name)) is not None:
        return _Name(known, None, verb.start())
    return _Name(name, "component", verb.start()) if _COMPONENT.fullmatch(name) else None


def _name_before(left: str, word: str, findings: Findings) -> _Name | None:
    words = [*_WORD.finditer(left)][-_LONGEST:]
    for first in words:
        name = findings.named(left[first.start() :])
        if name is not None:
            return _Name(name, None, len(left))
    bare = left.rstrip(_CLOSING)
    for role, shape in _BEFORE[word]:
        if (found := shape.search(bare)) and (name := _proper(found["name"], role)):
            return _Name(name, role, len(left))
    return None


def _targets(
    text: str, at: int, word: str, source: _Name, findings: Findings, *, is_passive: bool
) -> Iterator[_Name]:
    is_technical = source.role in _SYSTEMS or findings.is_any(source.name, _SYSTEMS)
    shapes = _AFTER_BY[word] if is_passive else _AFTER[word]
    if is_technical and not is_passive:
        shapes = _AFTER_SYSTEMS.get(word, shapes)
    while found := _name_after(text, at, shapes, findings):
        yield found
        following = _LISTED.match(text, found.end)
        if following is None:
            return
        at = following.end()


def _name_after(
    text: str, at: int, shapes: Sequence[tuple[Role, re.Pattern[str]]], findings: Findings
) -> _Name | None:
    article = _ARTICLE.match(text, at)
    start = article.end() if article else at
    while start < len(text) and text[start] in _OPENING:
        start += 1
    if known := _known_after(text, start, findings):
        return known
    for role, shape in shapes:
        found = shape.match(text, start)
        if found is None or found["name"].split()[0].lower() in NO_NAMES | NO_PLACES:
            continue
        if role == "person" and not is_person(found["name"]):
            continue
        if role == "system" and found["name"].split()[0].lower() in NO_PEOPLE:
            continue
        end = found.end()
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        return _Name(found["name"].rstrip("."), role, end)
    return None


def _known_after(text: str, start: int, findings: Findings) -> _Name | None:
    """The longest run of words that is a name."""
    ends: list[int] = []
    at = start
    while len(ends) < _LONGEST and (word := _WORD.match(text, at)):
        ends.append(at + len(word[0].rstrip()))
        at = word.end()
    for end in reversed(ends):
        run = text[start:end]
        if (name := findings.named(run)) is not None:
            return _Name(name, None, start + len(run.rstrip(",;.:")))
    return None


def _leading(text: str, findings: Findings) -> _Name | None:
    article = _ARTICLE.match(text)
    return _known_after(text, article.end() if article else 0, findings)


def _begins_with_pronoun(text: str) -> bool:
    return _PRONOUN.fullmatch(text.partition(" ")[0]) is not None


def _proper(name: str, role: Role) -> str | None:
    """Without a word in front that only begins the sentence; who has an article is no person."""
    if role == "person":
        return name if is_person(name) else None
    first, _, rest = name.partition(" ")
    if first.lower() not in NO_NAMES:
        return name
    return rest or None
