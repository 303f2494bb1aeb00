"""Counts the results of an extraction."""

from dataclasses import dataclass, replace

from whence.chunk_findings import Outcome
from whence.extract.extractors import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A job's chunks by outcome, and the tokens it used."""

    extracted: int = 0
    empty: int = 0
    failed: int = 0
    rejected: int = 0
    """Counts proposals, not chunks."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def done(self) -> int:
        return self.extracted + self.empty + self.failed

    def with_one(self, outcome: Outcome | None, usage: TokenUsage, *, rejected: int = 0) -> "Tally":
        """`outcome` is None for a chunk that was deleted while it was read: only its tokens count."""
        chunks = {} if outcome is None else {outcome: getattr(self, outcome) + 1}
        return replace(
            self,
            **chunks,
            rejected=self.rejected + rejected,
            prompt_tokens=self.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self.completion_tokens + usage.completion_tokens,
        )
