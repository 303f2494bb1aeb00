"""The words and shapes that give something away. English words; identifiers, pairs and dates need no language."""

import re
from collections.abc import Mapping

from whence.extract.rules.vocabulary import Role

# A name of two to five words: "Jane Doe", "Checkout Service", "Bank of England".
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w’'&./-]{0,40}"
NAME = rf"{_CAPITAL}(?:\s(?:(?:of|and|the|for|de|von|van)\s)?(?:{_CAPITAL}|\d[\w.]*)){{1,4}}"
NAME_OR_WORD = rf"{_CAPITAL}(?:\s(?:of\s)?{_CAPITAL}){{0,3}}(?<![./])"
# Of a person: no dot but behind an initial.
_OF_PERSON = r"[^\W\d_a-zß-öø-ÿ](?:\.|[\w’'-]{1,40})"
FULL_NAME = rf"{_OF_PERSON}(?:\s(?:von|van|de|der|la)\b)*(?:\s{_OF_PERSON}){{1,2}}"

IDENTIFIER = r"[A-Z]{1,8}(?:-[A-Z]{1,8})?-\d{1,5}(?:\.\d{1,3})*"
REQUIREMENT = re.compile(
    rf"[*_`\[(]*(?P<id>{IDENTIFIER})[*_`\])]*\s*[:.–—-]?[*_`]*\s*(?P<text>.*)", re.DOTALL
)
MODAL = re.compile(r"\b(?P<modal>must|shall|should|may)\b", re.IGNORECASE)
REQUIREMENT_PREFIXES = frozenset("REQ FR NFR BR SR UR SRS US RQ REQUIREMENT".split())  # noqa: SIM905

DECIDED = re.compile(
    r"(?:we|the (?:team|board|committee|group|council|parties))(?: have| has)? (?:decided|agreed|resolved) (?:to|that)\s(?P<what>.+)",
    re.IGNORECASE,
)
DECISION_KEY = re.compile(r"(?:decision|decided|agreed|resolved|resolution)(?:\s#?\w{1,4})?", re.IGNORECASE)
RATIONALE = re.compile(r"\bbecause\s(?P<why>[^.;]+)", re.IGNORECASE)

MEANS = re.compile(
    r"(?:The\s(?:term|expression|word)\s)?[\"“„«](?P<term>[^\"”“»]{2,80})[\"”“»]\s(?:shall\s)?(?:means?|refers? to|is defined as|denotes)\s(?P<what>.+)",
    re.IGNORECASE,
)
IS_A = re.compile(
    rf"(?:The\s)?[*_`\"“]*(?P<term>{NAME}|{_CAPITAL}|(?<=`)[a-z][\w.-]{{1,40}}(?=`))[*_`\"”]*(?:\s\((?P<short>[A-Z][\w.-]{{1,11}})\))?"
    r"\s(?:is|are|was)\s(?P<what>(?:an?|the|one of the)\s.+)"
)
# What begins sentences without being the name of anything.
NO_NAMES = frozenset(
    [
        "a",
        "all",
        "also",
        "an",
        "and",
        "another",
        "any",
        "as",
        "at",
        "both",
        "but",
        "by",
        "each",
        "either",
        "every",
        "few",
        "for",
        "from",
        "he",
        "her",
        "here",
        "his",
        "how",
        "however",
        "i",
        "if",
        "in",
        "it",
        "its",
        "many",
        "more",
        "most",
        "my",
        "neither",
        "no",
        "none",
        "not",
        "nothing",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "our",
        "several",
        "she",
        "since",
        "so",
        "some",
        "such",
        "that",
        "the",
        "their",
        "there",
        "these",
        "they",
        "this",
        "those",
        "thus",
        "to",
        "today",
        "under",
        "we",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "why",
        "with",
        "you",
        "your",
        "yes",
        "example",
        "note",
    ]
)

PERSON_ROLES = (
    r"(?:manager|engineer|director|officer|lead|leader|architect|analyst|developer|designer|president|chair(?:man|woman|person)?|"
    r"secretary|owner|consultant|professor|researcher|author|founder|head|administrator|maintainer|coordinator|counsel|scientist|"
    r"CEO|CTO|CFO|COO|CIO|CISO|VP)"
)
PERSON_WITH_ROLE = re.compile(
    rf"\b(?P<name>{FULL_NAME})(?:\s\((?P<in_brackets>[^()]{{0,40}}\b{PERSON_ROLES}\b[^()]{{0,40}})\)"
    rf"|,\s(?:the\s|our\s)?(?P<after>(?:[\w-]+\s){{0,4}}{PERSON_ROLES}(?:\s(?:of|for)\s[\w ]{{2,30}})?)(?=[,.;]|\s*$))"
)
TITLED_PERSON = re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s(?P<name>{FULL_NAME})")
PEOPLE_KEYS = frozenset(
    [
        "attendees",
        "participants",
        "present",
        "attending",
        "author",
        "authors",
        "owner",
        "owners",
        "responsible",
        "contact",
        "organizer",
        "chair",
        "reviewer",
        "reviewers",
        "approver",
        "assignee",
    ]
)
OWNER_KEYS = frozenset(["owner", "owners", "responsible", "assignee"])
ONE_FULL_NAME = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()]{{2,60}})\))?"
)

ORGANIZED = (
    rf"(?:{_CAPITAL}\s){{1,4}}(?:Inc|Ltd|LLC|GmbH|AG|Corp|Corporation|Company|University|Foundation|Institute|Bank|PLC|SE"
    r"|B\.V|S\.A|Team|Department|Committee)\b"
)
ORGANIZATION = re.compile(rf"\b(?P<name>{ORGANIZED})")
PARTY = re.compile(
    rf"\b(?P<name>{ORGANIZED})\.?,?\s\((?:hereinafter|hereafter|referred|to|as|the|\s){{0,9}}"
    r"[\"“„«](?:the\s)?(?P<term>[^\"”“»]{2,40})[\"”“»]\)"
)
DUTY = re.compile(
    r"(?:\d+(?:\.\d+)*\.?\s)?(?:The\s)?(?P<who>[^\W\d_][\w ]{1,40}?)\s(?P<modal>must|shall|should|may)\s(?:not\s)?\w.{8,}"
)
# A pair within a sentence, or behind one: "… Priority: low. Owner: Jane Doe."
INLINE_PAIR = re.compile(
    r"(?:(?<=[.;,(])\s?|\A)(?P<key>[^\W\d_]\w{1,20}(?:\s[a-z]{1,12})?):\s(?P<value>\S.{0,80}?)(?=[.;,)]+(?:\s|\Z)|\Z)"
)

COMPONENT_WORDS = (
    "Service|API|Gateway|Server|Database|Module|Library|Client|Engine|Worker|Queue|Store|Cache|Scheduler|Adapter|"
    "Component|Controller|Frontend|Backend|Proxy|Broker|Parser|Pipeline|Plugin"
)
COMPONENT = rf"(?:{_CAPITAL}\s){{1,3}}(?:{COMPONENT_WORDS})"

EVENT_WORDS = re.compile(
    r"\b(?:meeting|workshop|review|kick-?off|release|launch|conference|retrospective|incident|milestone|minutes|sync|stand-?up)\b",
    re.IGNORECASE,
)
# What comes again and again, and is told apart by its date only.
RECURRING = re.compile(
    r"(?:(?:minutes|notes|of|the|our|team|project|status|daily|weekly|biweekly|monthly|quarterly|meeting|review|retrospective|sync"
    r"|stand-?up)\b[\s,:–—-]*)+",
    re.IGNORECASE,
)
DATE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?[A-Z][a-z]{2,8}\.?,? \d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})\b"
)

_NOUNS: Mapping[Role, str] = {
    "component": "component|service|module|library|database|api|interface|gateway|plugin|microservice|framework",
    "system": "system|platform|product|application|app|tool|software|server",
    "organization": "company|organi[sz]ation|agency|authority|university|foundation|corporation|association",
    "person": f"person|{PERSON_ROLES}",
    "place": "city|town|village|country|region|state|building|river",
    "event": "meeting|event|conference|workshop|release",
    "requirement": "requirement|obligation|constraint",
    "decision": "decision",
}
# What a thing is, by the noun that says so: "is a service that …".
NOUNS: Mapping[Role, re.Pattern[str]] = {
    role: re.compile(rf"(?:an?|the|one of the)\s(?:[\w-]+\s){{0,4}}?(?:{words})\b", re.IGNORECASE)
    for role, words in _NOUNS.items()
}

_IS = r"(?:is|are|was|were|be)"
VERBS: Mapping[str, str] = {
    "depends_on": r"depends? (?:up)?on|relies on|rely on|requires?|needs?",
    "uses": r"uses?|makes? use of|calls?|consumes?|reads? from|writes? to|connects? to|talks? to",
    "owns": rf"owns?|{_IS} responsible for|maintains?|operates?",
    "reports_to": r"reports? to",
    "part_of": (
        rf"(?:{_IS}|forms?) (?:an? (?:integral )?)?part of|belongs? to"
        rf"|{_IS} (?:an? )?(?:member|module|component|division|department|subsidiary|subsystem) of"
    ),
    "works_for": rf"works? (?:for|at)|{_IS} employed (?:by|at)",
    "located_in": rf"(?:{_IS} )?(?:located|based|headquartered|situated|seated) in",
    "replaces": r"replaces?|supersedes?",
    "satisfies": r"satisf(?:ies|y)|fulfils?|fulfills?|implements?|meets?",
}
# The same said the other way round, with "by".
PASSIVES: Mapping[str, str] = {
    "depends_on": r"required|needed",
    "uses": r"used|called|consumed",
    "owns": r"owned|maintained|operated",
    "replaces": r"replaced|superseded",
    "satisfies": r"satisfied|fulfilled|implemented|met",
}
# Of a document, not of the world: "is located in Annex 2".
NO_PLACES = frozenset(
    [
        "annex",
        "appendix",
        "article",
        "chapter",
        "clause",
        "exhibit",
        "figure",
        "page",
        "schedule",
        "section",
        "table",
    ]
)
