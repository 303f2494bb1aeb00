"""What somebody is to do: `Action: Anna to send the draft by Friday`, `- [ ] Bob: update the page (due 2024-06-30)`."""

import re

from whence.extract.rules.asides import tell_pairs
from whence.extract.rules.cues import DONE_BY, DUE, DUE_ASIDE, ORGANIZATION, REQUIREMENT, TASK
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import is_first_name, is_person
from whence.extract.rules.shorten import MUST_NOT_END, shortened

_DOERS = re.compile(r",\s|\s(?:and|&)\s|/")
_TO_DO = re.compile(r"\A(?:TODO|TO DO|FIXME)\b[\s:–—-]*")
_HANDLE = re.compile(r"@(?P<who>[\w.-]{2,40}?)[:,]?\s(?P<what>\S+\s.+)")
_AT_LEAST = 3
"""Words of a task of which nobody says who does it."""


def task(text: str, findings: Findings, *, is_listed: bool) -> Subject | None:
    """`is_listed`: it stands among action items, where it is one also if nobody is named.

    Who does it is a part of its name: two who have the same to do have two tasks.
    """
    numbered = REQUIREMENT.fullmatch(text)
    said = _TO_DO.sub("", numbered["text"] if numbered else text).strip()
    found, handle = TASK.fullmatch(said), _HANDLE.fullmatch(said)
    doers = _doers(found["who"]) if found else []
    what = said
    if found is not None and doers:
        what = found["what"] if " " in found["what"].strip() else said
        name = said.replace("@", "")
    elif handle is not None:
        doers, what = [handle["who"]], handle["what"]
        name = f"{what} ({handle['who']})"
    else:
        behind = DONE_BY.search(said)
        doers = _doers(behind["who"]) if behind else []
        what = said[: behind.start()] if behind and doers else said
        name = said.replace("@", "")
        if not is_listed or len(what.split()) < _AT_LEAST or not what[:1].isupper():
            return None
    subject = findings.add("task", numbered["id"] if numbered else _without_date(name))
    if subject is None:
        return None
    if due := DUE.search(what):
        findings.tell(subject, "due", due["date"])
    for doer in doers:
        findings.tell(subject, "owner", doer)
        _own(doer, subject, findings)
    findings.tell(subject, "description", tell_pairs(said, subject, findings))
    return subject


def _without_date(said: str) -> str:
    aside = DUE_ASIDE.search(said)
    return shortened((said[: aside.start()] if aside else said).strip().rstrip(MUST_NOT_END))


def is_doer(text: str) -> bool:
    return bool(_doers(text))


def _doers(text: str) -> list[str]:
    """Everybody in the list, if all of them are somebody."""
    if ORGANIZATION.fullmatch(text):
        return [text]
    each = [one.removeprefix("@") for one in _DOERS.split(text)]
    return each if all(is_person(one) or is_first_name(one) for one in each) else []


def _own(doer: str, subject: Subject, findings: Findings) -> None:
    if ORGANIZATION.fullmatch(doer):
        findings.add("organization", doer)
        owner: str | None = doer
    elif is_person(doer):
        findings.add("person", doer)
        owner = doer
    else:
        owner = findings.by_first_name(doer)
    if owner is not None:
        findings.link("owns", owner, findings.name_of(subject))
