"""Rules for fetching, and the fetched file."""

from dataclasses import dataclass, field

from whence.fetch.addresses import Allowed
from whence.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRules:
    """Allowed targets, and limits on size, time and redirects."""

    allow: Allowed = field(default_factory=Allowed)
    max_bytes: int = 100 << 20
    """Maximum size of the body, packed and unpacked."""
    seconds: float = 60.0
    """Deadline for everything: look-ups, redirects and the body."""
    redirects: int = 5

    @classmethod
    def of(cls, settings: Settings) -> "FetchRules":
        return cls(
            allow=Allowed.of(settings.fetch_allow),
            max_bytes=settings.fetch_max_mb << 20,
            seconds=settings.fetch_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    url: str
    """After redirects, without a fragment."""
    name: str
    content_type: str | None
    """The header: `text/html; charset=…`."""
    etag: str | None
    last_modified: str | None
    size: int
    sha256: bytes
