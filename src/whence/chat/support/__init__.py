"""Tells how well each sentence of an answer is supported by the chunks it cites.

scoring      the level, score and quote of each citation
matching     whether a passage says a sentence: same words, same order, same polarity
reading      texts as words and figures in one form; `words.toml` has the word lists
statements   an answer as sentences with their citations
assertions   which sentences ought to cite
"""

from whence.chat.support.matching import Level, Verdict
from whence.chat.support.scoring import Citation, Judgement, Origin, cite, support

__all__ = ["Citation", "Judgement", "Level", "Origin", "Verdict", "cite", "support"]
