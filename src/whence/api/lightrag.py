"""The LightRAG server of a project: its URL, and its key, which is never shown."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from pydantic import AfterValidator, Field

from whence.api.values import Value, storable, wrong
from whence.errors import BadInput
from whence.fetch import Allowed
from whence.lightrag import SWITCHED_OFF
from whence.store import Store

KEY_IS_SET = "set"
"""Shown instead of a key. Sending it back changes nothing."""
_MAX_URL = 2_000
_MAX_KEY = 500
_KEY = re.compile(rf"[!-~]{{1,{_MAX_KEY}}}")


def _read_key(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and _KEY.fullmatch(value)):
        return value
    # The error must not repeat the key.
    raise wrong(f"a key of up to {_MAX_KEY} visible ASCII characters", provided="…")


def _read_url(url: str) -> str:
    if "?" in url or "#" in url:
        raise ValueError("a URL without a query")
    return storable(url)


LightragUrl = Annotated[str, Field(min_length=1, max_length=_MAX_URL), AfterValidator(_read_url)]
LightragKey = Annotated[
    str | None,
    Value(
        _read_key,
        {"anyOf": [{"type": "string", "pattern": "^[!-~]+$", "maxLength": _MAX_KEY}, {"type": "null"}]},
    ),
]


async def require_allowed(url: str | None, allow: Allowed) -> None:
    """Raises `URLRefused` for an address that documents may not be fetched from."""
    if url is not None and url != SWITCHED_OFF:
        from whence.fetch.run import check  # this import loads an HTTP client, which a search does not need

        await check(url, allow)


class KeyChange(NamedTuple):
    url: str
    key: str | None

    @property
    def config(self) -> dict[str, Any]:
        return {"lightragKey": KEY_IS_SET if self.key else None}

    async def apply(self, store: Store, project_id: UUID) -> None:
        await store.lightrag.use_key(project_id, self.url, self.key)


def key_change(before: Mapping[str, Any], sent: Mapping[str, Any]) -> KeyChange | None:
    """The key after this change of the config. A new server does not get the key of the old one."""
    old = before.get("lightragUrl")
    url, key = sent.get("lightragUrl", old), sent.get("lightragKey", KEY_IS_SET)
    if key == KEY_IS_SET:
        return None if url == old else KeyChange("", None)
    if key is not None and url in (None, SWITCHED_OFF):
        raise BadInput("lightragKey needs a lightragUrl, and there is none", details={"field": "lightragKey"})
    return KeyChange(url or "", key)
