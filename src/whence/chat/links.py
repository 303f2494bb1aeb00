"""Whether a link goes on behind its brackets. Pure."""

import re

from whence.chat.seen import Seen, Unclear

_LONGEST = 300
"""Characters. What has the form of an address for so long is one: a stream need not wait for its end."""

# Without brackets: taking a marker out of it could leave nothing of it, and then it would have been a citation.
_BARE = r"[^\s()<>\[\]【】［］⁅⁆⦋⦌⦍⦎]"
_TARGET = rf"(?:<[^<>\n\[\]【】［］⁅⁆⦋⦌⦍⦎]*>|{_BARE}*(?:\({_BARE}*\){_BARE}*)*+)"
_TITLE = r"""(?:"[^"\n\[\]【】［］⁅⁆⦋⦌⦍⦎]*"|'[^'\n\[\]【】［］⁅⁆⦋⦌⦍⦎]*')"""
_LINK = re.compile(rf"\({_TARGET}(?:[ \t]+{_TITLE})?\)")
_SO_FAR = re.compile(
    rf"\((?:<[^<>\n\[\]【】［］⁅⁆⦋⦌⦍⦎]*|{_TARGET}(?:\({_BARE}*|[ \t]+(?:{_TITLE}|[\"'][^\"'\n\[\]【】［］⁅⁆⦋⦌⦍⦎]*)?)?)"
)


def begins_link(seen: Seen, at: int) -> bool:
    """Whether the address of a link follows: one without spaces, or between `<` and `>`, perhaps with a title.

    Raises `Unclear` where the text ends too early to tell, unless it is whole.
    """
    if seen.peek(at) != "(":
        return False
    text, end = seen.text, at + _LONGEST
    if _LINK.match(text, at, end):
        return True
    if not _SO_FAR.fullmatch(text, at, end):
        return False
    if len(text) < end and not seen.is_whole:
        raise Unclear
    return True
