"""Scores how well each sentence of an answer is supported by the chunks it cites.

scoring      the level, score and quote of each citation
statements   an answer as sentences with their citations
assertions   which sentences ought to cite
"""

from whence.chat.support.scoring import Citation, Judgement, Origin, cite, support
from whence.matching import Level, Verdict

__all__ = ["Citation", "Judgement", "Level", "Origin", "Verdict", "cite", "support"]
