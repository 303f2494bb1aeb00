"""Decides whether a sentence of an answer claims something and so needs a citation. Pure.

Questions, titles, introductions of lists and sentences that only say that nothing was found claim nothing. The rules are English
and narrow: in doubt a sentence is a claim.
"""

import re

from whence.text.content_words import words

_LEAST = 2  # minimum content words of a claim; one is enough with a verb: "It is free."
_LONGEST = 300  # maximum characters of a sentence that says that nothing was found

_QUESTION = re.compile(r"[?？؟][\"”’)*_]*\Z")
_TITLE = re.compile(r"#{1,6}\s")
_LABEL = re.compile(r".*[:：][*_]*|\*\*[^*]*[^*.!。！]\*\*|__[^_]*[^_.!。！]__", re.DOTALL)
_LEADS = re.compile(r"\b(?:following|follows|below|here)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|shall|should|\w{2,}ed)\b",
    re.IGNORECASE,
)

# The ways in which models say "nothing was found". None allows a second clause, which could make a claim.
_DOCUMENTS = r"(?:(?:the|these|any|of|given|provided|available) ){0,4}(?:passages?|documents?|sources?|context|excerpts?)"
_INFORMATION = r"(?:\w+ ){0,2}(?:information|mention|answers?|details?|evidence|anything)\b"
_NOT = r"(?: not|n['’]t)(?: \w+ly)?"
_TELL = (
    r"(?:(?:answer|say|tell|mention|specify|state|address|describe|discuss|indicate|explain|cover)s?\b"
    rf"|(?:contain|include|have|provide|give)s? {_INFORMATION})"
)
_REST = (
    r"(?:(?!\b(?:and|but|though|although|however|yet|except|while|whereas|because|since|as|so|only|instead|rather|still)\b)"
    r"[^,;:.!?–—()])*"
)
_NOTHING_FOUND = re.compile(
    rf"(?:(?:however|unfortunately|(?:i['’]m |i am )?sorry),? (?:but )?|(?:in|from|based on|according to) {_DOCUMENTS},? )?(?:"
    rf"i (?:cannot|(?:am|was) (?:not|unable)|\w+{_NOT}|found no(?:thing)?) {_REST}"
    rf"|(?:{_DOCUMENTS} (?:do|does|did){_NOT}|(?:no|none of|nothing in) {_DOCUMENTS}) {_TELL}{_REST}"
    rf"|(?:there (?:is|was|are|were) )?(?:no {_INFORMATION}|nothing\b){_REST}\b(?:found|(?:in|from|by) {_DOCUMENTS})"
    rf"|{_REST}\b(?:is|are|was|were){_NOT} \w+ed (?:in|by) {_DOCUMENTS})[.!…]?[*_\"”’]*",
    re.IGNORECASE,
)


def is_assertion(sentence: str) -> bool:
    text = sentence.strip()
    found = words(text)
    says_something = _VERB.search(text) is not None and not _LEADS.search(text)
    if not found or (len(found) < _LEAST and not says_something):
        return False
    if _QUESTION.search(text) or _TITLE.match(text):
        return False
    if _LABEL.fullmatch(text) and not any(word[0].isdigit() for word in found):
        return len(found) > _LEAST and says_something
    return len(text) > _LONGEST or not _NOTHING_FOUND.fullmatch(" ".join(text.strip("*_ ").split()))
