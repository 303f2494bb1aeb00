"""What the headers of an answer say of the file: its name, its type, its version. Pure."""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote, unquote_to_bytes

import httpx

from whence.models import MAX_NAME

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - RFC 9110's word for it
_PARAMETER = re.compile(
    rf';\s*(?P<name>{_TOKEN})\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^;]*))', re.DOTALL
)
_EXTENDED = re.compile(r"(?P<charset>utf-8|iso-8859-1)'[^']*'(?P<value>.*)", re.IGNORECASE)
_MEDIA_TYPE = re.compile(rf"{_TOKEN}/{_TOKEN}")
_VALIDATOR = re.compile(r"[ -~]{1,1024}")
# Marks that turn the direction of text make `exe.fdp` read `pdf.exe`.
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_MAX_EXTENSION = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentType:
    media_type: str | None
    charset: str | None


def file_name(response_headers: httpx.Headers, url: httpx.URL) -> str:
    """By Content-Disposition (RFC 6266), else the last part of the path, else the host."""
    candidates = (_disposition_name(response_headers), _path_name(url), url.host)
    return next((name for name in map(_clean, candidates) if name), "document")


def content_type(headers: httpx.Headers) -> ContentType:
    text = _header(headers, "content-type")
    media_type = text.partition(";")[0].strip().lower()
    charset = _parameters(text).get("charset", "").strip().lower()
    return ContentType(
        media_type=media_type if _MEDIA_TYPE.fullmatch(media_type) else None,
        charset=charset if re.fullmatch(_TOKEN, charset) else None,
    )


def validator(headers: httpx.Headers, name: str) -> str | None:
    """An ETag or Last-Modified that can be sent back as it is."""
    text = _header(headers, name).strip()
    return text if _VALIDATOR.fullmatch(text) else None


def _disposition_name(headers: httpx.Headers) -> str:
    parameters = _parameters(_header(headers, "content-disposition"))
    extended = _EXTENDED.fullmatch(parameters.get("filename*", "").strip())
    if extended:
        try:
            return unquote_to_bytes(extended["value"]).decode(extended["charset"])
        except UnicodeDecodeError:
            pass  # the plain one stands beside it for clients that cannot read this one
    return parameters.get("filename", "")


def _path_name(url: httpx.URL) -> str:
    # Taken apart before it is decoded: %2F is no slash.
    return unquote(url.raw_path.partition(b"?")[0].decode("ascii").rstrip("/").rpartition("/")[2])


def _parameters(header: str) -> dict[str, str]:
    found: dict[str, str] = {}
    # A header that begins with its parameters, without a type before them, is wrong and common.
    text = header if re.match(rf"\s*{_TOKEN}(/{_TOKEN})?\s*(;|\Z)", header) else f";{header}"
    for match in _PARAMETER.finditer(text):
        quoted = match["quoted"]
        value = match["plain"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        found.setdefault(match["name"].lower(), value)
    return found


def _header(headers: httpx.Headers, name: str) -> str:
    """As UTF-8 where it is that, whatever the other headers are encoded in."""
    raw = next((value for key, value in headers.raw if key.lower() == name.encode()), b"")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _clean(name: str) -> str:
    """Only a name: no folders, no control characters, nothing that would hide what it is, and not too long."""
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
