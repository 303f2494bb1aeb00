"""Reads the file's name, type and version from the response headers. Pure."""

import re
import unicodedata
from urllib.parse import unquote, unquote_to_bytes

import httpx

from whence.models import MAX_NAME

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - RFC 9110's word for it
_PARAMETER = re.compile(
    rf';\s*(?P<name>{_TOKEN})\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^;]*))', re.DOTALL
)
_EXTENDED = re.compile(r"(?P<charset>utf-8|iso-8859-1)'[^']*'(?P<value>.*)", re.IGNORECASE)
# Marks that change the text direction make `exe.fdp` look like `pdf.exe`.
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_MAX_EXTENSION = 16


def file_name(response_headers: httpx.Headers, url: httpx.URL) -> str:
    """From Content-Disposition (RFC 6266), else the last part of the path, else the host."""
    # Split before decoding: %2F does not separate parts.
    path_name = unquote(url.raw_path.partition(b"?")[0].decode("ascii").rstrip("/").rpartition("/")[2])
    candidates = (_disposition_name(response_headers), path_name, url.host)
    return next((name for name in map(_clean, candidates) if name), "document")


def plain_header(headers: httpx.Headers, name: str) -> str | None:
    """The header if it is plain ASCII and not too long, so that an ETag can be sent back unchanged."""
    text = _header(headers, name).strip()
    return text if re.fullmatch(r"[ -~]{1,1024}", text) else None


def _disposition_name(headers: httpx.Headers) -> str:
    parameters = _parameters(_header(headers, "content-disposition"))
    extended = _EXTENDED.fullmatch(parameters.get("filename*", "").strip())
    if extended:
        try:
            return unquote_to_bytes(extended["value"]).decode(extended["charset"])
        except UnicodeDecodeError:
            pass  # fall back to the plain `filename`
    return parameters.get("filename", "")


def _parameters(header: str) -> dict[str, str]:
    found: dict[str, str] = {}
    # A header of parameters only, without a type before them, is invalid but common.
    text = header if re.match(rf"\s*{_TOKEN}(/{_TOKEN})?\s*(;|\Z)", header) else f";{header}"
    for match in _PARAMETER.finditer(text):
        quoted = match["quoted"]
        value = match["plain"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        found.setdefault(match["name"].lower(), value)
    return found


def _header(headers: httpx.Headers, name: str) -> str:
    """Decodes one header by itself: as UTF-8 if it is valid, else as Latin-1."""
    raw = next((value for key, value in headers.raw if key.lower() == name.encode()), b"")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _clean(name: str) -> str:
    """A plain file name: no folders, control characters or direction marks, and not too long."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    name = _TURNS.sub("", name)
    name = "".join(" " if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} else c for c in name)
    name = " ".join(name.split()).strip(". ")
    if len(name) <= MAX_NAME:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > _MAX_EXTENSION:
        return name[:MAX_NAME]
    return f"{stem[: MAX_NAME - len(extension) - 1]}.{extension}"
