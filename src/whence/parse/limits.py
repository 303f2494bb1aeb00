"""Limits for parsing documents."""

from dataclasses import dataclass

from whence.settings import Settings

MEGABYTE = 1 << 20


def in_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.3g} MB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    processes: int = 1
    """Maximum number of documents parsed at once, each in its own process."""
    memory: int = 400 * MEGABYTE
    """Maximum memory of one such process, in bytes."""
    seconds: float = 300
    cpu_seconds: int = 240
    text: int = 64 * MEGABYTE
    """Maximum size of a document's text, in bytes of UTF-8."""
    documents: int = 200
    """A process is replaced after this many documents, so that leaks cannot build up."""
    idle_seconds: float = 60
    """An idle process ends after this many seconds."""

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            processes=settings.parse_processes,
            memory=settings.parse_memory_mb * MEGABYTE,
            seconds=settings.parse_seconds,
            cpu_seconds=settings.parse_cpu_seconds,
            text=settings.parse_text_mb * MEGABYTE,
        )
