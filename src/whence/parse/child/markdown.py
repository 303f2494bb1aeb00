"""What is done to the markdown that comes out of kreuzberg. Pure."""

import re

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIKE_A_HEADER = re.compile(r"\\(#{1,6}(?:\s|\Z))")
_PICTURE = re.compile(r"!\[([^\]]*)\]\(data:[^)]*\)|!\[\]\([^)]*\)")


def unescaped(text: str) -> str:
    r"""Without the backslashes that keep `C\#` from being markup: texts are searched and quoted, not rendered.

    They stay where they keep a line from being a header, a cell from being two, and in code.
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
    """A picture that is written out in the text itself leaves its description; one without any leaves nothing."""
    return _PICTURE.sub(lambda found: found[1] or "", text)


def _unescaped_line(line: str) -> str:
    if _LIKE_A_HEADER.match(line):
        return line[:2] + _ESCAPE.sub(r"\1", line[2:])
    in_table = line.startswith("|")
    return _ESCAPE.sub(lambda found: found[0] if in_table and found[1] == "|" else found[1], line)
