"""A Type 1 font, written by hand, whose characters are known by the names of their glyphs alone."""

import string

_HSBW, _ACROSS, _UP, _CLOSE, _END = 13, 6, 7, 9, 14
_BOX = (0, 600), _HSBW, (600,), _ACROSS, (700,), _UP, (-600,), _ACROSS, _CLOSE, _END
_NOTHING, _EMPTY = ((0, 0), _HSBW, _END), ((0, 500), _HSBW, _END)
_EMPTY_LETTERS = string.ascii_lowercase.encode()
WIDTHS = 65, [600, *[0] * (97 - 66), *[500] * len(_EMPTY_LETTERS)]
"""The first code, and the widths from there."""
_HEAD = b"""%%!PS-AdobeFont-1.0: Named
/FontName /Named def /PaintType 0 def /FontType 1 def /FontMatrix [0.001 0 0 0.001 0 0] readonly def
/Encoding 256 array 0 1 255 {1 index exch /.notdef put} for
%s
readonly def
/FontBBox {0 0 600 700} readonly def
currentdict end
currentfile eexec
"""
_PRIVATE = b"""dup /Private 8 dict dup begin
/RD {string currentfile exch readstring pop} executeonly def /ND {noaccess def} executeonly def
/BlueValues [] def /password 5839 def
2 index /CharStrings 29 dict dup begin
%s
end end readonly put noaccess put dup/FontName get exch definefont pop mark currentfile closefile
"""


def named_font() -> tuple[bytes, tuple[int, int]]:
    """A is a box, U+10145; B is a J without outline and width; a to z have a width alone. Also the lengths of the two parts."""
    codes = {65: b"u10145", 66: b"J"} | {letter: b"%c" % letter for letter in _EMPTY_LETTERS}
    glyphs = dict.fromkeys(codes.values(), _EMPTY) | {
        b".notdef": _NOTHING,
        b"u10145": _BOX,
        b"J": _NOTHING,
    }
    head = _HEAD % b"\n".join(b"dup %d /%s put" % code for code in codes.items())
    drawn = {name: _encrypted(b"".join(map(_code, steps)), 4330) for name, steps in glyphs.items()}
    lines = (b"/%s %d RD %s ND" % (name, len(code), code) for name, code in drawn.items())
    rest = _encrypted(_PRIVATE % b"\n".join(lines), 55665)
    return head + rest, (len(head), len(rest))


def _code(step: int | tuple[int, ...]) -> bytes:
    return bytes([step]) if isinstance(step, int) else b"".join(map(_number, step))


def _number(value: int) -> bytes:
    if abs(value) <= 107:
        return bytes([value + 139])
    first, second = divmod(abs(value) - 108, 256)
    return bytes([first + (247 if value > 0 else 251), second])


def _encrypted(plain: bytes, key: int) -> bytes:
    out = bytearray()
    for byte in b"\0\0\0\0" + plain:
        out.append(byte ^ key >> 8)
        key = (out[-1] + key) * 52845 + 22719 & 0xFFFF
    return bytes(out)
