"""What a sentence says, where its shape leaves little doubt."""

import re

from whence.extract.rules.asides import tell_pairs
from whence.extract.rules.blocks import Block
from whence.extract.rules.cues import (
    ACTOR,
    ADDRESSED,
    DECIDED,
    DEMAND,
    EVENT_WORDS,
    INLINE_PAIR,
    IS_A,
    IS_A_SMALL,
    MEANS,
    NOUNS,
    ORGANIZATION,
    PERSON_WITH_ROLE,
    RATIONALE,
    REASON,
    REQUIREMENT,
    STORY,
    TITLED_PERSON,
    UNDECIDED,
)
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.identifiers import is_standard, is_usual, prefix_of
from whence.extract.rules.modals import demands, modal_of_any, strength
from whence.extract.rules.parties import duty, parties, without_article
from whence.extract.rules.people import is_person, listed_person, people, person_of
from whence.extract.rules.place import Place
from whence.extract.rules.records import tell_record
from whence.extract.rules.shorten import MUST_NOT_END, shortened
from whence.extract.rules.tasks import task
from whence.extract.rules.topics import is_title, take_for_topic
from whence.extract.rules.vocabulary import Role
from whence.extract.rules.words import NO_NAMES, NO_PEOPLE, NO_TERMS, TASK_PREFIXES

_QUANTIFIERS = frozenset(["a", "all", "an", "any", "each", "every", "no", "the"])
_AT_LEAST = 3
"""Words of what is required, decided or defined."""
_EXPLAINED = re.compile(r"(?P<term>[^\W_][\w /&'’()-]{0,48}[\w)])\s(?:[–—-]|=)\s(?P<what>\S.*)")


def sentence(block: Block, place: Place, findings: Findings) -> None:
    text = block.text
    if tell_record(text, place, findings):
        _people_and_organizations(text, findings)
        return
    if block.begins:
        place.is_numbered = place.topic is not None
        if _of_a_list(block, place, findings):
            return
    found = requirement(text, findings, is_sentence=True)
    if found is not None:
        place.is_numbered = True
        take_for_topic(block, found, place)
    elif place.about is not None and tell_pairs(text, place.about, findings) != text:
        return
    else:
        parties(text, findings)
        found = _demanded(block, place, findings)
    defined = None
    if found is None:
        defined = _definition(text, place, findings)
        _decision(text, place, findings)
    for pair in INLINE_PAIR.finditer(text):
        people(pair["key"], pair["value"], None, findings)
    _people_and_organizations(text, findings)
    place.about = found or place.about or defined


def requirement(text: str, findings: Findings, *, is_sentence: bool) -> Subject | None:
    """`REQ-12 The system must …`. Other identifiers only where something must be; without a text none but in headings."""
    found = REQUIREMENT.fullmatch(text.strip())
    if found is None:
        return None
    modal = modal_of_any(found["text"])
    prefix = prefix_of(found["id"])
    is_marked = text.lstrip().startswith(("**", "__", "["))
    says_something = found["text"][:1].isupper() and (is_marked or len(found["text"].split()) > _AT_LEAST)
    is_one = is_usual(prefix) or prefix in findings.trusted or ("-" in found["id"] and demands(found["text"]))
    if is_standard(prefix) or not is_one:  # "BUG-7 The page cannot be opened"
        return None
    if modal is None and is_sentence and not says_something:
        return None
    subject = findings.add("requirement", found["id"])
    if subject is None:
        return None
    told = tell_pairs(found["text"], subject, findings)
    if modal is None and is_title(told):
        findings.entitle(subject, "description", told)
    else:
        findings.tell(subject, "description", told)
    if modal is not None:
        findings.rank(subject, modal)
    return subject


def add_decision(what: str, findings: Findings, *, said: str | None = None) -> Subject | None:
    """`said` is the whole sentence; without it, what was decided describes itself. None where nothing was."""
    if UNDECIDED.match(what):
        return None
    reason = RATIONALE.search(what)
    core = (what[: reason.start()] if reason else what).strip().rstrip(",;:.")
    return findings.add(
        "decision",
        shortened(core),
        {"description": (said or what).rstrip(), "rationale": reason["why"] if reason else ""},
    )


def is_task_number(text: str) -> bool:
    found = REQUIREMENT.fullmatch(text)
    return found is not None and prefix_of(found["id"]).partition("-")[0] in TASK_PREFIXES


def _of_a_list(block: Block, place: Place, findings: Findings) -> bool:
    """Whether it is what the section or the box before it says that it is: a person, a task, a decision, a term."""
    kind, text = place.sections.kind, block.text
    if is_task_number(text) or block.has_box or (kind in {"actions", "tasks"} and block.is_item):
        found = task(text, findings, is_listed=kind == "actions")
        place.about = found or place.about
        return found is not None
    if not block.is_item:
        return False
    if kind == "people":
        return listed_person(text, place.event, findings)
    if kind == "decisions" and DECIDED.fullmatch(text) is None and len(text.split()) >= _AT_LEAST:
        place.decision = add_decision(text, findings)
        return place.decision is not None
    explained = _EXPLAINED.fullmatch(text) if kind == "terms" else None
    if explained is not None and explained["term"].lower() not in NO_TERMS:
        return findings.add("concept", explained["term"], {"description": explained["what"]}) is not None
    return False


def _demanded(block: Block, place: Place, findings: Findings) -> Subject | None:
    """Below an identifier, the first demand says what that is about, and the others go on with it."""
    topic, text = place.topic, block.text
    if topic is None:
        return duty(text, findings) or _demand(block, place, findings)
    modal = modal_of_any(text)
    if modal is not None or STORY.match(text):
        findings.tell(topic, "description", text)
    if modal is not None:
        findings.rank(topic, modal)
    return None


def _demand(block: Block, place: Place, findings: Findings) -> Subject | None:
    """`The system shall …` anywhere; among requirements whatever must be, unless it goes on with one that has a number."""
    if place.is_numbered:
        return None
    if block.begins and STORY.match(block.text):
        return _story(block, place, findings)
    found = DEMAND.fullmatch(block.text)
    if found is None:
        return None
    who, modal = found["who"], found["modal"]
    first = who.split()[0].lower()
    if first in NO_NAMES - _QUANTIFIERS:
        return None
    is_actor = ACTOR.fullmatch(who) is not None
    if place.sections.kind == "requirements":
        is_demand = modal in {"must", "shall", "should", "may not"} or is_actor or block.is_item
    else:
        is_demand = is_actor and modal == "shall"
    if not is_demand:
        return None
    name = shortened(block.text.rstrip(MUST_NOT_END))
    subject = findings.add("requirement", name)
    if subject is not None:
        findings.tell(subject, "description", tell_pairs(block.text, subject, findings))
        findings.rank(subject, strength(who, modal))
    return subject


def _story(block: Block, place: Place, findings: Findings) -> Subject | None:
    """`As a customer, I want to pay by card so that …`; with less than that only where stories are to be expected."""
    is_expected = place.sections.kind == "requirements" or block.is_item
    if not is_expected and " so that " not in block.text:
        return None
    name = shortened(block.text.rstrip(MUST_NOT_END))
    return findings.add("requirement", name, {"description": block.text})


def _definition(text: str, place: Place, findings: Findings) -> Subject | None:
    """A thing that the sentence says what it is; a term is explained, and nothing is told of it."""
    if found := MEANS.match(text):
        findings.add("concept", found["term"], {"description": found["what"]})
        return None
    found = IS_A.fullmatch(text)
    if found is not None and found["term"].split()[0].lower() not in NO_NAMES:
        return _is_a(found["term"], found["what"], found["short"] or "", text, findings)
    small = IS_A_SMALL.fullmatch(text)
    if small is not None and small["term"] == place.sections.title:
        return _is_a(small["term"], small["what"], "", text, findings)
    return None


def _is_a(term: str, what: str, short: str, text: str, findings: Findings) -> Subject | None:
    role = _role(term, what)
    kind = NOUNS["person"].match(what)
    if kind is not None and role == "person":
        return findings.add("person", term, {"role": kind["kind"]})
    if role is None and text.startswith("`"):  # of code, whatever it is
        return None
    is_marked = text.partition(term)[2][:1] in {"*", "_", '"', "”"}
    stands_out = bool(short) or is_marked or (" " not in term and term[1:] != term[1:].lower())
    if role is None and not stands_out:
        return None
    if role == "concept" and not stands_out and " " not in term:
        return None
    subject = findings.add(role or "concept", term, {"description": what, "abbreviation": short})
    if subject is not None and short:
        findings.abbreviate(subject, short)
    return subject


def _role(term: str, what: str) -> Role | None:
    """By the noun that says what it is. Nobody is a company, and no company an engineer."""
    if ORGANIZATION.fullmatch(term):
        return "organization"
    role = next((role for role, noun in NOUNS.items() if noun.match(what)), None)
    return None if role == "person" and not is_person(term) else role


def _decision(text: str, place: Place, findings: Findings) -> None:
    if place.decision is not None and (reason := REASON.fullmatch(text)):
        findings.tell(place.decision, "rationale", reason["why"])
    elif found := DECIDED.fullmatch(text):
        what = found["what"] or found["verdict"]
        if what and not _is_of_minutes(place) and _is_small_talk(what):
            return
        place.decision = add_decision(what or found["said"], findings, said=text if what else None)


def _is_of_minutes(place: Place) -> bool:
    """Where few words are enough, since decisions are to be expected."""
    is_known = place.sections.kind in {"decisions", "actions", "tasks", "people"}
    return is_known or place.event is not None or place.sections.has(EVENT_WORDS)


def _is_small_talk(what: str) -> bool:
    """A few words that name nothing: `burn it`, `meet on Friday`; and not `use Kafka`, `drop the exporter`."""
    words = what.rstrip(MUST_NOT_END + "!").split()
    return len(words) <= _AT_LEAST and not any(_names_something(word) for word in words)


def _names_something(word: str) -> bool:
    is_name = any(map(str.isupper, word)) and word.lower() not in NO_PEOPLE
    return is_name or word.startswith("`") or word == "the"


def _people_and_organizations(text: str, findings: Findings) -> None:
    """Those that are named with what they are."""
    person_of(text, findings)
    for found in PERSON_WITH_ROLE.finditer(text):
        if is_person(found["name"]):
            findings.add("person", found["name"], {"role": found["in_brackets"] or found["after"]})
    for found in TITLED_PERSON.finditer(text):
        if is_person(found["name"]):
            findings.add("person", found["name"])
    for found in ORGANIZATION.finditer(text):
        if ADDRESSED.match(text) and found.start() == 0:
            continue
        findings.add("organization", without_article(found["name"]))
