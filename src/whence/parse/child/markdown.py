"""Cleans the markdown that kreuzberg produces. Pure."""

import re

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIKE_A_HEADER = re.compile(r"\\(#{1,6}(?:\s|\Z))")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(data:[^)]*\)|!\[\]\([^)]*\)")


def unescaped(text: str) -> str:
    r"""Removes escaping backslashes, as in `C\#`: texts are searched and quoted, not rendered.

    They stay in code, before what would become a header, and before `|` in a table.
    """
    lines, fence = text.split("\n"), ""
    for at, line in enumerate(lines):
        if found := _FENCE.match(line):
            mark = found[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif not fence and "\\" in line:
            lines[at] = _unescaped_line(line)
    return "\n".join(lines)


def without_pictures(text: str) -> str:
    """Replaces pictures embedded as data by their descriptions, and removes pictures without one."""
    return _PICTURE.sub(lambda found: found[1] or "", text)


def _unescaped_line(line: str) -> str:
    if _LIKE_A_HEADER.match(line):
        return line[:2] + _ESCAPE.sub(r"\1", line[2:])
    in_table = line.startswith("|")
    return _ESCAPE.sub(lambda found: found[0] if in_table and found[1] == "|" else found[1], line)
