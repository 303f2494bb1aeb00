"""The originals that documents refer to, and their differences from the objects in the storage."""

from collections.abc import Mapping
from typing import LiteralString, NamedTuple

from whence.store.storage import name_some

# The original of a failed or cancelled job is optional: the job may be retried, but its loss is no data loss.
REFERRED: LiteralString = """
SELECT key, size, sha256, bool_or(required) AS required
FROM (SELECT d.original_key, d.size, d.sha256, true FROM kb.documents d WHERE d.original_key IS NOT NULL
      UNION ALL
      SELECT j.config -> 'original' ->> 'key', (j.config -> 'original' ->> 'size')::bigint,
             decode(j.config -> 'original' ->> 'sha256', 'hex'), j.status IN ('pending', 'processing')
      FROM kb.documents d JOIN kb.jobs j ON j.project_id = d.project_id AND j.id = d.current_job_id
      WHERE j.status <> 'completed' AND j.config -> 'original' ->> 'key' IS NOT NULL
     ) AS referred (key, size, sha256, required)
GROUP BY key, size, sha256
ORDER BY key
"""


class Referred(NamedTuple):
    """An original as the database describes it."""

    key: str
    size: int
    sha256: bytes
    required: bool


def differences(referred: list[Referred], found: Mapping[str, tuple[int, bytes]]) -> dict[str, str]:
    """What is wrong with each original, by key. Only a required one is reported as missing."""
    wrong = {}
    for key, size, sha256, required in referred:
        if key not in found:
            if required:
                wrong[key] = "missing"
        elif found[key] != (size, sha256):
            is_size = found[key][0] != size
            wrong[key] = f"{found[key][0]} bytes instead of {size}" if is_size else "other content (sha256)"
    return wrong


def describe_missing(wrong: Mapping[str, str]) -> str:
    """A message with the first twenty names and the total number."""
    gone = [key for key, what in wrong.items() if what == "missing"]
    changed = [f"{key} ({what})" for key, what in wrong.items() if what != "missing"]
    parts = [f"Not in the storage: {_count(gone)} of documents: {name_some(gone)}"] if gone else []
    if changed:
        parts.append(f"Not as the database describes them: {_count(changed)}: {name_some(changed)}")
    return ". ".join(parts)


def _count(some: list[str]) -> str:
    return "1 original" if len(some) == 1 else f"{len(some)} originals"
