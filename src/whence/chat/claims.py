"""Whether a sentence of an answer claims something, and so ought to cite. Pure.

Questions, titles, what leads to a list, and sentences that say nothing but that nothing was found claim nothing. The rules are
English and narrow: in doubt a sentence claims.
"""

import re

from whence.chat.words import is_number, words

_LEAST = 2
"""Words that carry meaning; a sentence of fewer says hardly anything."""
_FEW = 2
_LONGEST = 300
"""Characters that it takes to say that nothing was found."""

_QUESTION = re.compile(r"[?？؟][\"”’)*_]*\Z")
_TITLE = re.compile(r"#{1,6}\s")
_LABEL = re.compile(r".*[:：][*_]*|\*\*[^*]*[^*.!。！]\*\*|__[^_]*[^_.!。！]__", re.DOTALL)
_LEADS = re.compile(r"\b(?:following|follows|below|here)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|shall|should|\w{2,}ed)\b",
    re.IGNORECASE,
)

_DOCUMENTS = (
    r"(?:(?:the|these|those|any|your|of|given|provided|available|above|supplied|retrieved|cited) )*"
    r"(?:passages?|documents?|sources?|texts?|contexts?|excerpts?|materials?|files?)"
)
_BEFORE = r"(?:(?:however|unfortunately|sorry|i['’]?m sorry|i am sorry|i apologi[sz]e|regrettably|no)[,.]? (?:but )?)?"
_WITHIN = rf"(?:(?:in|from|based on|according to) {_DOCUMENTS},? )?"
_NOT = r"(?:(?:could|can|did|do|does|was|were|am|is|are)(?: not|n['’]t)|cannot|can ?not|was unable to|were unable to|am unable to|are unable to)"
_SEEKS = r"(?:find|found|answer|determine|know|say|tell|see|locate|identify|contain|mention|provide|specify|state|give|include|cover|address|describe|discuss|have|indicate|explain|able to \w+)"
_ADVERB = r"(?:(?:explicitly|directly|actually|really|specifically|seem to|appear to|yet|clearly) )?"
# Nothing here can begin another clause, in which something could be claimed.
_REST = r"(?:(?!\b(?:and|but|though|although|however|yet|except|while|whereas|because|since|as|so|only|instead|rather|still)\b)[^,;:.!?–—()])*"
_NOTHING_FOUND = re.compile(
    rf"{_BEFORE}{_WITHIN}(?:"
    rf"(?:i|we|it|they|{_DOCUMENTS}) {_NOT} {_ADVERB}{_SEEKS}\b{_REST}"
    rf"|(?:none of {_DOCUMENTS}|nothing in {_DOCUMENTS}|no {_DOCUMENTS}) {_ADVERB}{_SEEKS}s?\b{_REST}"
    rf"|(?:there (?:is|was|are|were) )?(?:no (?:\w+ )?(?:information|mention|answer|details?|reference|data)|nothing)\b"
    rf" {_REST}\b(?:{_DOCUMENTS}|found|available|given|provided)(?: (?:in|from|by) {_DOCUMENTS})?"
    rf"|{_REST}\b(?:is|are|was|were)(?: not|n['’]t) {_ADVERB}"
    rf"(?:mentioned|specified|stated|given|provided|found|covered|described|included|answered|discussed|addressed|said)"
    rf" (?:in|by) {_DOCUMENTS}"
    rf")[.!…]?[*_\"”’]*",
    re.IGNORECASE,
)


def is_claim(sentence: str) -> bool:
    text = sentence.strip()
    found = words(text)
    if len(found) < _LEAST or _QUESTION.search(text) or _TITLE.match(text):
        return False
    if _LABEL.fullmatch(text) and not any(map(is_number, found)):
        return len(found) > _FEW and bool(_VERB.search(text)) and not _LEADS.search(text)
    return len(text) > _LONGEST or not _NOTHING_FOUND.fullmatch(" ".join(text.strip("*_ ").split()))
