"""What one document may take."""

from dataclasses import dataclass

from whence.settings import Settings

MEGABYTE = 1 << 20


def in_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.3g} MB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    processes: int = 1
    """How many documents are parsed at once, each in a process of its own."""
    memory: int = 400 * MEGABYTE
    """Bytes that such a process may hold."""
    seconds: float = 300
    cpu_seconds: int = 240
    text: int = 64 * MEGABYTE
    """Bytes of UTF-8 that a document's text may have."""
    documents: int = 200
    """After so many a process ends and another takes its place, so that nothing builds up in one."""
    idle_seconds: float = 60
    """A process that has nothing to do for so long ends."""

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            processes=settings.parse_processes,
            memory=settings.parse_memory_mb * MEGABYTE,
            seconds=settings.parse_seconds,
            cpu_seconds=settings.parse_cpu_seconds,
            text=settings.parse_text_mb * MEGABYTE,
        )
