"""White space in an answer, also where it is written as an entity of HTML. Pure."""

import re

from whence.chat.seen import Seen, Unclear

MOST_BLANKS = 16
_SPACES = " \t\u00a0\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))
IS_SPACE = frozenset(_SPACES)
_ENTITIES = ("&nbsp;", "&ensp;", "&emsp;", "&thinsp;", "&#160;", "&#xa0;", "&#xA0;", "&#8239;", "&#x202f;")
# Possessive, all there are: to try with fewer would take a long time of many.
BLANK = rf"(?:[{_SPACES}]|{'|'.join(_ENTITIES)}){{0,{MOST_BLANKS}}}+"
_AFTER = re.compile(rf"(?:[{_SPACES}\r]|{'|'.join(_ENTITIES)}){{0,{MOST_BLANKS}}}+")
_ENTITY_SO_FAR = re.compile(r"&[a-zA-Z0-9#]{0,7}")
TRAILING = re.compile(rf"(?:[{_SPACES}]|{'|'.join(_ENTITIES)})+\Z")


def behind_blanks(seen: Seen, at: int) -> int:
    end = at + len(matched(_AFTER, seen.text, at))
    if not seen.is_whole and _ENTITY_SO_FAR.fullmatch(seen.text, end):
        raise Unclear
    return end


def matched(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def blanks_start(text: str, floor: int, end: int) -> int:
    for _ in range(MOST_BLANKS):
        if end <= floor:
            break
        if text[end - 1] in IS_SPACE:
            end -= 1
            continue
        entity = _entity_before(text, floor, end) if text[end - 1] == ";" else ""
        if not entity:
            break
        end -= len(entity)
    return end


def _entity_before(text: str, floor: int, end: int) -> str:
    return next((entity for entity in _ENTITIES if text.endswith(entity, floor, end)), "")
