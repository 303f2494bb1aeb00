"""The cost of an extraction, in tokens and money."""

from dataclasses import dataclass, replace

from whence.models import Outcome
from whence.settings import Settings


@dataclass(slots=True)
class Usage:
    """Tokens used so far, including those of unreadable replies."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens, in the currency of the settings."""

    prompt: float | None = None
    completion: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Prices":
        return cls(prompt=settings.llm_prompt_price, completion=settings.llm_completion_price)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """None if no price is configured."""
        if self.prompt is None and self.completion is None:
            return None
        spent = prompt_tokens * (self.prompt or 0) + completion_tokens * (self.completion or 0)
        return round(spent / 1_000_000, 6)


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

    def with_one(self, outcome: Outcome | None, usage: Usage, *, rejected: int = 0) -> "Tally":
        """`outcome` is None for a chunk that was deleted while it was read: only its tokens count."""
        chunks = {} if outcome is None else {outcome: getattr(self, outcome) + 1}
        return replace(
            self,
            **chunks,
            rejected=self.rejected + rejected,
            prompt_tokens=self.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self.completion_tokens + usage.completion_tokens,
        )
