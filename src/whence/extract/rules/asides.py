"""What a sentence tells of something beside the way: `… (Priority: high; Owner: Jane Doe)`, `… (due 2024-06-30)`."""

from whence.extract.rules.cues import DUE_ASIDE, INLINE_PAIR
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import people

MUST_NOT_END = " ,;:."
_TITLE = 80
"""Characters of a name that is the beginning of what was said."""


def tell_pairs(text: str, about: Subject, findings: Findings) -> str:
    """What stands before the pairs in the text, which are told of the subject; all of it, if there are none."""
    told = [pair for pair in INLINE_PAIR.finditer(text) if findings.tell(about, pair["key"], pair["value"])]
    for pair in told:
        people(pair["key"], pair["value"], about, findings)
    starts = [pair.start() for pair in told]
    due = DUE_ASIDE.search(text)
    if due is not None and findings.tell(about, "due", due["date"]):
        starts.append(due.start())
    return text[: min(starts)].rstrip(" ,;(") if starts else text


def shortened(text: str) -> str:
    if len(text) <= _TITLE:
        return text
    cut = text[:_TITLE].rpartition(" ")[0] or text[:_TITLE]
    return cut.rstrip(MUST_NOT_END)
