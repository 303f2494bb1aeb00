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

# "REQ-12", "SEC-A-7"; of the usual prefixes also "FR12", and of any with a colon behind it "LH12:".
IDENTIFIER = r"(?:[A-Z]{1,8}(?:-[A-Z]{1,8})?-|(?:REQ|N?FR|BR|US|AC|UC)(?=\d)|[A-Z]{1,6}(?=\d{1,4}:\s))\d{1,5}(?:\.\d{1,3})*(?![\w-])"
REQUIREMENT = re.compile(
    rf"[*_`\[(]*(?P<id>{IDENTIFIER})[*_`\])]*\s*[:.–—-]?[*_`]*\s*(?P<text>.*)", re.DOTALL
)
# "As a customer, I want to …", also with these words in bold.
STORY = re.compile(
    r"[*_]*As\s(?:an?|the)[*_]*\s[^,.;:]{2,80}?,?\s[*_]*I[*_]*\s[*_]*(?:want|would\slike|need|wish|can|expect|should)\b",
    re.IGNORECASE,
)
MODAL = re.compile(r"\b(?P<modal>must|shall|should|may(?:\s+not)?)\b", re.IGNORECASE)
FORBIDS = re.compile(r"may\s+not|can\s?not", re.IGNORECASE)
# "The system cannot be started twice", and not "If the printer cannot be reached, …".
FORBIDDEN = re.compile(
    r"(?:(?!(?:as|because|if|that|when|whenever|where|which|while|who|whose|why)\b)[\w’'/-]+\s){1,12}?can\s?not\s",
    re.IGNORECASE,
)
# A demand without an identifier: "The system shall …", "If the printer is offline, the system shall …".
DEMAND = re.compile(
    r"(?:(?:If|When|Whenever|Where|While|Once|After|Before|Upon|For|In|On|At|During|As soon as)\s[^.;]{3,120}?,\s)?"
    r"(?P<who>(?:(?:[Tt]he|[Aa]n?|[Aa]ll|[Ee]ach|[Ee]very|[Aa]ny)\s)?[^\W\d_][\w’'/-]*(?:\s[\w’'/-]+){0,5}?)"
    r"\s(?P<modal>must|shall|should|may\snot|may|can\s?not|can|will)\s(?:not\s|also\s|only\s|always\s|never\s)?[a-z][\w-]*\s.{2,}"
)
ACTOR = re.compile(
    r"the (?:system|software|application|app|platform|portal|product|solution|website|tool|device)|(?:(?:the|an?|all|each|every|any) )?"
    r"(?:(?:registered|authori[sz]ed|logged-in) )?(?:users?|operators?|administrators?|visitors?)",
    re.IGNORECASE,
)

_WHO_DECIDES = r"(?:we|the (?:[a-z]+ )?(?:team|board|committee|group|council|parties))"
DECIDED = re.compile(
    rf"(?:{_WHO_DECIDES}(?: have| has)?|it (?:was|is|has been)(?: then| also)?)(?: \w+ly)? (?:decided|agreed|resolved) (?:to|that)\s(?P<what>.+)"
    rf"|{_WHO_DECIDES}(?: have| has)?(?: \w+ly)? (?P<verdict>(?:approved|rejected|adopted|ratified)\s.+)"
    r"|(?:decision|decided|agreed|resolved|resolution):\s(?P<said>.+)",
    re.IGNORECASE,
)
DECISION_KEY = re.compile(r"(?:decision|decided|agreed|resolved|resolution)(?:\s#?\w{1,4})?", re.IGNORECASE)
# An item below "Decisions" that says that there is none.
UNDECIDED = re.compile(
    r"[*_]*(?:[(\[](?:postponed|deferred|open|pending|undecided|no|none|tbd|tbc)\b|(?:postponed|deferred|undecided)\b|none (?:was|were|yet|taken|made|so far)\b"
    r"|(?:open|pending|no|none|n/a|tbd|tbc)[*_]*(?:\s?[:.]|\s[–—-]\s|\Z)|(?:still )?open (?:question|issue|point|item)s?\b"
    r"|no (?:[\w-]+ )?(?:decision|agreement|consensus|conclusion|resolution|vote|quorum)s?\b)",
    re.IGNORECASE,
)
RATIONALE = re.compile(r"\bbecause\s(?P<why>[^.;]+)", re.IGNORECASE)
REASON = re.compile(r"(?:Rationale|Reason|Because|Why):\s(?P<why>\S.*)")

MEANS = re.compile(
    r"(?:The\s(?:term|expression|word)\s)?[\"“„«](?P<term>[^\"”“»]{2,80})[\"”“»]\s(?:shall\s)?(?:means?|refers? to|is defined as|denotes)\s(?P<what>.+)",
    re.IGNORECASE,
)
IS_A = re.compile(
    rf"(?:The\s)?[*_`\"“]*(?P<term>{NAME}|{_CAPITAL}|(?<=`)[a-z][\w.-]{{1,40}}(?=`))[*_`\"”]*(?:\s\((?P<short>[A-Z][\w.-]{{1,11}})\))?"
    r"\s(?:is|are|was)\s(?P<what>(?:an?|the|one of the)\s.+)"
)
# The same of what a document has as its title: "acme-sync is a tool that …".
IS_A_SMALL = re.compile(r"(?P<term>[a-z][\w.-]{1,40})\sis\s(?P<what>(?:an?|the)\s.+)")

PERSON_ROLES = (
    r"(?i:manager|engineer|director|officer|lead|leader|architect|analyst|developer|designer|president|chair(?:man|woman|person)?|"
    r"secretary|owner|consultant|professor|researcher|author|founder|head|administrator|maintainer|coordinator|counsel|scientist|"
    r"CEO|CTO|CFO|COO|CIO|CISO|VP)"
)
A_ROLE = re.compile(rf"\b{PERSON_ROLES}\b")
PERSON_WITH_ROLE = re.compile(
    rf"\b(?P<name>{FULL_NAME})(?:\s\((?P<in_brackets>[^()\"“”„«»]{{0,40}}\b{PERSON_ROLES}\b[^()\"“”„«»]{{0,40}})\)"
    rf"|,\s(?:the\s|our\s)?(?P<after>(?:[\w-]+\s){{0,4}}{PERSON_ROLES}(?:\s(?:of|for)\s[\w ]{{2,30}})?)(?=[,.;]|\s*$))"
)
# All of a line: "Helen Carter, CEO, Northwind".
PERSON_OF = re.compile(
    rf"(?P<name>{FULL_NAME}),\s(?P<role>(?:[\w-]+\s){{0,4}}{PERSON_ROLES}(?:\sof\s[a-z]+)?),\s(?P<organization>{NAME_OR_WORD})\.?"
)
# Whom a letter is to.
ADDRESSED = re.compile(r"(?:Dear|Hi|Hello|Hey)\s")
TITLED_PERSON = re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s(?P<name>{FULL_NAME})")
# One of a list: "Dr. Ann Lee (chair)", "Jane Doe, project lead", "Jane Doe <jane@acme.example>".
ONE_FULL_NAME = re.compile(
    rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?P<name>{FULL_NAME})(?:\s\((?P<role>[^()]{{2,60}})\)|(?:,|\s[–—-])\s(?P<after>[^,;()]{{2,60}}))?"
    r"(?:\s[<(](?P<email>[^\s<>@()]{1,60}@[^\s<>@()]{1,60})[>)])?"
)
ONE_NAME = re.compile(rf"{_OF_PERSON}")

_COMPANIES = (
    r"Inc|Ltd|Limited|LLC|LLP|GmbH|AG|KG|AB|ASA|Oy|NV|BV|S\.A|B\.V|SARL|SpA|Corp|Corporation|Company|University|Foundation|Institute"
    r"|Bank|PLC|SE"
)
ORGANIZED = rf"(?:{_CAPITAL}\s){{0,3}}{_CAPITAL}(?:,?\s(?:{_COMPANIES})|\s(?:Team|Department|Committee|Council|Ministry|Agency|Authority|Association|Squad|Guild))\b"
ORGANIZATION = re.compile(rf"\b(?P<name>{ORGANIZED})")
# "Blue Anchor GmbH, a company registered in Germany (the “Supplier”)", "Jane Doe, residing in Bern (hereinafter “Recipient”)".
# And "Jane Doe, trading as Doe Advisory (“Consultant”)".
PARTY = re.compile(
    rf"\b(?P<name>{ORGANIZED}|{FULL_NAME})\.?"
    r"(?:(?:,\s(?:an?|whose|with|having|residing|resident|registered|incorporated|organi[sz]ed|established|of|[A-Z0-9])"
    r"|,?\s(?:trading\sas|doing\sbusiness\sas|d/b/a|dba|t/a))\b[^()\"“„«;]{0,200})?"
    r",?\s\((?:(?:hereinafter|hereafter|referred|to|as|the|called|collectively|each),?\s){0,6}"
    r"[\"“„«](?:the\s)?(?P<term>[^\"”“»]{2,40})[\"”“»]\)"
)
DUTY = re.compile(
    r"\b(?:[Tt]he\s)?(?P<who>[A-Z][\w-]*(?:\s[A-Z][\w-]*){0,3}|[Tt]he\sparties|(?:[Ee]ach|[Ee]ither|[Nn]either|[Bb]oth)\s[Pp]art(?:y|ies))\s"
    r"(?P<modal>must|shall|should|may\snot|may|can\s?not|undertakes\sto|agrees\sto|is\sobliged\sto|is\srequired\sto)\s(?:not\s)?[a-z]"
)
# The same in capitals: "NEITHER PARTY SHALL BE LIABLE …".
SHOUTED_DUTY = re.compile(
    r"\b(?:THE\s)?(?P<who>(?!THE\s)[A-Z][A-Z-]*(?:\s[A-Z-]+){0,2}?|THE\sPARTIES|(?:EACH|EITHER|NEITHER|BOTH)\sPART(?:Y|IES))\s"
    r"(?P<modal>MUST|SHALL|SHOULD|MAY\sNOT|MAY|CAN\s?NOT|UNDERTAKES\sTO|AGREES\sTO|IS\sOBLIGED\sTO|IS\sREQUIRED\sTO)\s(?:NOT\s)?[A-Z]"
)
ANY_PARTY = re.compile(r"the parties|(?:each|either|neither|both) part(?:y|ies)", re.IGNORECASE)
# A pair within a sentence, or behind one: "… Priority: low. Owner: Jane Doe."
INLINE_PAIR = re.compile(
    r"(?:(?<=[.;,(])\s?|\A)(?P<key>[^\W\d_]\w{1,20}(?:\s[a-z]{1,12})?):\s(?P<value>\S.{0,80}?)(?=[.;,)]+(?:\s|\Z)|\Z)"
)

COMPONENT_WORDS = (
    "Service|API|Gateway|Server|Database|Module|Library|Client|Engine|Worker|Queue|Store|Cache|Scheduler|Adapter|"
    "Component|Controller|Frontend|Backend|Proxy|Broker|Parser|Pipeline|Plugin|Pool|Dispatcher|Router|Registry|Dashboard|Hub"
)
COMPONENT = rf"(?:{_CAPITAL}\s){{1,3}}(?:{COMPONENT_WORDS})"

# "The Auth Service issues tokens".
ACTING_PART = re.compile(
    rf"(?P<name>{COMPONENT})\s(?:(?:also|always|never|only)\s)?(?!(?:is|was|has|does|as|its|this|thus|us)\b)[a-z]{{2,20}}s\b"
)
_THING = rf"(?:The|the)\s(?P<name>{_CAPITAL}(?:\s{_CAPITAL}){{0,2}})"
# "The Alert Manager is part of Orbit and is maintained by the SRE Team".
KEPT_PART = re.compile(
    rf"{_THING}\s(?:(?:is|are)\spart\sof\s[^,.;]{{1,60}}?\sand\s)?(?:(?:is|are)\s)?(?:maintained|operated|owned)\sby\s(?:the\s)?"
    rf"(?:{_CAPITAL}\s){{1,3}}(?:Team|Squad|Guild)\b"
)
# "The Collector sends events to Kafka".
MOVING_PART = re.compile(
    rf"{_THING}\s(?:sends|publishes|writes|reads|stores|keeps|fetches)\s(?:[a-z-]+\s)?"
    r"(?:events|messages|metrics|logs|traces|requests|jobs|tasks|data|records|notifications|alerts|packets|queries|commands|tokens|files"
    r"|payloads|telemetry|samples|batches|rows|sessions)\s(?:to|in|from)\s"
)

# Who is to do something: "Anna to send …", "Anna Berg: send …", "Anna will send …".
_DOER = rf"@?(?:{FULL_NAME}|{_OF_PERSON})"
TASK = re.compile(
    rf"(?P<who>{ORGANIZED}|{_DOER}(?:(?:,\s|\s(?:and|&)\s|/){_DOER}){{0,3}})(?:\s\([^()]{{1,30}}\))?"
    r"(?::|\s[–—-]|\s(?:is\s|are\s)?to|\s(?:will|shall|must|should)|\sneeds\sto)\s(?P<what>\S.+)"
)
TASK_KEY = re.compile(r"action(?:\s(?:item|point))?(?:\s#?\d{1,3})?", re.IGNORECASE)
DONE_BY = re.compile(rf"\s[(\[]@?(?P<who>{FULL_NAME}|{_OF_PERSON})[)\]]\.?\Z")

EVENT_WORDS = re.compile(
    r"\b(?:meeting|workshop|review|kick-?off|release|launch|conference|retrospective|incident|milestone|minutes|sync|stand-?up)\b",
    re.IGNORECASE,
)
# What comes once: "Kick-off of Heron", "Release 2.4". Whatever else happens may come again, and is told apart by its date.
SINGLE = re.compile(
    rf"(?:the\s)?(?:kick-?off|launch|release|milestone)(?:\s(?:of|for))?(?:\sthe)?(?:\s(?:(?-i:{_CAPITAL})|v?\d[\w.]*))+",
    re.IGNORECASE,
)
_DATE = (
    r"(?:\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?[A-Z][a-z]{2,8}\.?,? \d{4}"
    r"|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})"
)
DATE = re.compile(rf"\b{_DATE}\b")
# All of a line: "Tuesday 4 November 2025, 10:00 to 10:45, room Ostsee".
DATE_LINE = re.compile(
    rf"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,?\s)?(?P<date>{_DATE})(?:[,;]\s[^.?!]{{1,80}})?"
)
# "(due 2024-06-30)", "by 28 March 2025".
DUE = re.compile(rf"(?:[(,;]\s?)?\b(?:due(?: date)?:?(?: by| on)?|by|until|before)\s(?P<date>{_DATE})\b\)?")
DUE_ASIDE = re.compile(rf"[(,;]\s?(?:due(?: date)?:?(?: by| on)?)\s(?P<date>{_DATE})\b")

# In this order: a package manager is no person.
_NOUNS: Mapping[Role, str] = {
    "organization": (
        "company|organi[sz]ation|agency|authority|university|foundation|corporation|association|start-?up|bank|institute|charity|firm"
    ),
    "component": (
        "component|service|module|library|database|api|interface|gateway|plug-?in|microservice|queue|cache|broker|proxy|scheduler|"
        r"(?:web|test|testing|application|ui|software|logging)\sframework|sdk|driver|adapter|parser|worker|daemon|package|extension|middleware"
    ),
    "system": (
        "system|platform|product|application|app|tool|software|server|toolkit|program|website|cli|utility|bot|editor|compiler|dashboard|"
        r"(?:package|file|window|task|memory|password|tab|process|session|state|version|dependency|download|content)\smanager|engine|"
        r"generator|client|runtime|operating\ssystem"
    ),
    "person": f"person|{PERSON_ROLES}",
    "place": "city|town|village|country|region|state|building|river|capital",
    "event": "meeting|event|conference|workshop|release",
    "requirement": "requirement|obligation|constraint",
    "decision": "decision",
    "concept": (
        "method|standard|technique|protocol|process|practice|approach|concept|term|principle|format|metric|procedure|algorithm|"
        "specification|pattern|framework|methodology|abbreviation|acronym"
    ),
}
_BETWEEN = (
    r"(?:(?!(?:of|for|to|in|on|at|by|with|from|that|which|who|whose|is|are)\b)[\w’'/+#.()*`-]+,?\s){0,6}?"
)
_PHRASE_ENDS = (
    r"(?=[*_`]*\s*(?:[,.;:()–—]|\Z)|[*_`]*\s(?:that|which|who|whose|for|of|to|in|on|at|by|with|from|and|where|when|as|behind|between|written|built|"
    r"based|used|using|made|designed|developed|maintained|operated|owned|registered|incorporated|located|headquartered|providing|"
    r"offering|running|called|known|powered|implemented|hosted|working|responsible)\b)"
)
# What a thing is, by the noun that says so and ends its phrase: "is a fast job queue that …".
NOUNS: Mapping[Role, re.Pattern[str]] = {
    role: re.compile(rf"(?:an?|the|one of the)\s(?P<kind>{_BETWEEN}(?:{words})){_PHRASE_ENDS}", re.IGNORECASE)
    for role, words in _NOUNS.items()
}

_IS = r"(?:is|are|was|were|be)"
_WHAT = r"(?:[a-z][\w-]*\s){0,4}?"
VERBS: Mapping[str, str] = {
    "depends_on": r"depends? (?:up)?on|relies on|rely on|requires?|needs?",
    "uses": (
        rf"uses?|makes? use of|calls?|consumes?|reads? {_WHAT}from|writes? {_WHAT}to|connects? to|talks? to|integrates? with|subscribes? to"
        rf"|stores? {_WHAT}in|keeps? {_WHAT}in|publish(?:es)? {_WHAT}to|sends? {_WHAT}to|fetch(?:es)? {_WHAT}from|listens? to"
    ),
    "owns": rf"owns?|{_IS} responsible for|maintains?|operates?|{_IS} (?:an?|the) (?:[a-z]+ )?(?:owner|maintainer) of",
    "reports_to": r"reports? to",
    "part_of": (
        rf"(?:{_IS}|forms?) (?:an? (?:integral )?)?part of|belongs? to"
        rf"|{_IS} (?:an? )?(?:member|module|component|division|department|subsidiary|subsystem) of"
    ),
    "works_for": (
        rf"works? (?:for|at)|{_IS} employed (?:by|at)"
        rf"|{_IS} (?:an?|the) (?:[\w-]+ ){{0,3}}?{PERSON_ROLES} (?:at|of)(?= (?:{_CAPITAL} ){{1,4}}(?:{_COMPANIES})\b)"
    ),
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
