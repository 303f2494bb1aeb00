"""E-mail: subject, headers and attachment names, then the body."""

import email
import email.policy
import re
from email.errors import MessageError
from email.message import EmailMessage
from pathlib import Path

from whence.models import Page
from whence.parse.child.html import to_markdown
from whence.parse.decode import NotText, decode
from whence.parse.errors import Refused

_HEADERS = ("From", "To", "Cc", "Date")


def read(path: Path) -> tuple[str, tuple[Page, ...]]:
    with path.open("rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    try:
        return _written(message), ()
    except (MessageError, ValueError, LookupError, AttributeError, TypeError, IndexError) as exc:
        # The standard library's parser stumbles over some headers that break the rules.
        raise Refused("corrupt", "The message is damaged", cause=f"{type(exc).__name__}: {exc}") from exc


def _written(message: EmailMessage) -> str:
    subject = _one_line(message["Subject"])
    lines = [f"{name}: {_one_line(message[name])}" for name in _HEADERS if message[name]]
    attached = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    lines += [f"Attachment: {_one_line(name)}" for name in attached]
    parts = [f"# {subject}" if subject else "", "\n".join(lines), _body(message)]
    return "\n\n".join(part for part in parts if part)


def _one_line(header: object) -> str:
    return re.sub(r"\s+", " ", str(header or "")).strip()


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    content, charset = part.get_payload(decode=True), part.get_content_charset()
    if not isinstance(content, bytes) or not content.strip():
        return ""
    if part.get_content_subtype() == "html":
        return to_markdown(content, charset=charset).strip()
    try:
        return decode(content, said=charset).strip()
    except NotText as exc:
        raise Refused("corrupt", "The message is damaged") from exc
