"""Decides whether a sentence of an answer claims something and so needs a citation. Pure.

Questions, titles, introductions of lists and sentences that only say that nothing was found claim nothing. The rules are English
and narrow: in doubt a sentence is a claim.
"""

import re

from whence.text.content_words import is_number, words

_LEAST = 2
"""Minimum number of content words of a claim. One is enough with a verb: "It is free."."""
_FEW = 2
_LONGEST = 300
"""Maximum length, in characters, of a sentence that says that nothing was found."""

_QUESTION = re.compile(r"[?？؟][\"”’)*_]*\Z")
_TITLE = re.compile(r"#{1,6}\s")
_LABEL = re.compile(r".*[:：][*_]*|\*\*[^*]*[^*.!。！]\*\*|__[^_]*[^_.!。！]__", re.DOTALL)
_LEADS = re.compile(r"\b(?:following|follows|below|here)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|shall|should|\w{2,}ed)\b",
    re.IGNORECASE,
)

# The ways in which models say "nothing was found". None allows a second clause, which could make a claim.
_DOCUMENTS = (
    r"(?:(?:the|these|those|any|of|given|provided|available|above|supplied|retrieved|cited) ){0,4}"
    r"(?:passages?|documents?|sources?|context|excerpts?)"
)
_INFORMATION = (
    r"(?:(?:any|an?|the|enough|sufficient|specific|further|relevant|direct) ){0,3}"
    r"(?:information|mention|answers?|details?|references?|evidence|anything)\b"
)
_BEFORE = (
    r"(?:(?:however|unfortunately|regrettably|sorry|i['’]?m sorry|i am sorry)[,.]? (?:but )?)?"
    rf"(?:(?:in|from|based on|according to) {_DOCUMENTS},? )?"
)
_NOT = r"(?:(?:do|does|did|can|could)(?: not|n['’]t)|cannot|(?:am|was) unable to|(?:am|was) not able to)"
_ADVERB = r"(?:(?:explicitly|directly|actually|specifically|clearly|seem to|appear to) )?"
_FIND = r"(?:find|answer|determine|know|say|tell|locate|identify)\b"
_TELL = r"(?:answer|say|tell|mention|specify|state|address|describe|discuss|indicate|explain|cover)s?\b"
_HOLD = rf"(?:contain|include|have|hold|provide|give|offer)s? {_INFORMATION}"
_TOLD = r"(?:answered|said|mentioned|specified|stated|addressed|described|discussed|explained|covered|given|found)"
_REST = (
    r"(?:(?!\b(?:and|but|though|although|however|yet|except|while|whereas|because|since|as|so|only|instead|rather|still)\b)"
    r"[^,;:.!?–—()])*"
)
_WAYS = (
    rf"i {_NOT} {_ADVERB}(?:{_FIND}|have {_INFORMATION}){_REST}",
    rf"{_DOCUMENTS} {_NOT} {_ADVERB}(?:{_TELL}|{_HOLD}){_REST}",
    rf"(?:no|none of|nothing in) {_DOCUMENTS} {_ADVERB}(?:{_TELL}|{_HOLD}){_REST}",
    rf"(?:there (?:is|was|are|were) )?(?:no {_INFORMATION}|nothing\b){_REST}\b(?:found|(?:in|from|by) {_DOCUMENTS})",
    rf"{_REST}\b(?:is|are|was|were)(?: not|n['’]t) {_ADVERB}{_TOLD} (?:in|by) {_DOCUMENTS}",
)
_NOTHING_FOUND = re.compile(rf"{_BEFORE}(?:{'|'.join(_WAYS)})[.!…]?[*_\"”’]*", re.IGNORECASE)


def is_assertion(sentence: str) -> bool:
    text = sentence.strip()
    found = words(text)
    if len(found) < _LEAST and not (found and _says_something(text)):
        return False
    if _QUESTION.search(text) or _TITLE.match(text):
        return False
    if _LABEL.fullmatch(text) and not any(map(is_number, found)):
        return len(found) > _FEW and bool(_VERB.search(text)) and not _LEADS.search(text)
    return len(text) > _LONGEST or not _NOTHING_FOUND.fullmatch(" ".join(text.strip("*_ ").split()))


def _says_something(text: str) -> bool:
    return _VERB.search(text) is not None and _LEADS.search(text) is None
