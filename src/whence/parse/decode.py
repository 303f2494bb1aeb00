"""Decodes the bytes of a text: detects the encoding and changes as little as possible. Pure."""

import codecs
import re

from whence.parse.detect import is_mostly_printable
from whence.parse.parsed import Refused

# UTF-32 before UTF-16: its little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_DAMAGED = 10


# Character sets only: Python's codecs also include escapes and host names.
_KNOWN = re.compile(r"cp\d+|iso8859-\d+|koi8-[rtu]|shift_jis\w*|euc_\w+|gb\w+|big5\w*|mac-\w+|tis-620")


def decode(content: bytes, *, said: str | None = None) -> str:
    """Uses the byte order mark, else UTF-8, else the declared encoding `said`, else Windows-1252.

    A text that is UTF-8 but for a few bytes is read as UTF-8 before Windows-1252. Line ends stay as they are. A NUL,
    which PostgreSQL cannot store, becomes the replacement character. Raises `Refused` if it is no text.
    """
    marked = next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), None)
    if marked is not None:
        text = str(memoryview(content)[len(marked[0]) :], marked[1], "replace")
    elif is_mostly_printable(content):
        text = _decode_unmarked(content, said)
    else:
        raise Refused("unsupported")
    return text.replace("\0", _REPLACEMENT) if "\0" in text else text


def _decode_unmarked(content: bytes, said: str | None) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        pass
    if (known := _find_codec(said)) is not None:
        try:
            return content.decode(known)
        except UnicodeError:
            pass
    text = content.decode(errors="replace")
    damaged = text.count(_REPLACEMENT)
    # A few bad bytes do not make a UTF-8 text another encoding. Each decoded character beyond ASCII took at least
    # two bytes.
    understood = (len(content) - len(text) + damaged) // 2
    return text if damaged * _DAMAGED < understood else content.decode("cp1252", "replace")


def _find_codec(said: str | None) -> str | None:
    try:
        name = codecs.lookup(said or "").name
    except (LookupError, ValueError):
        return None
    return name if _KNOWN.fullmatch(name) else None
