"""What a sentence tells of something beside the way: `… (Priority: high; Owner: Jane Doe)`, `… (due 2024-06-30)`."""

from whence.extract.rules.cues import DUE_ASIDE, INLINE_PAIR
from whence.extract.rules.findings import Findings, Subject
from whence.extract.rules.people import people


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
