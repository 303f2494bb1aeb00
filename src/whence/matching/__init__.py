"""Decides whether a text states a sentence: the same words in the same order, with the same polarity. Pure.

places     the place of a sentence in a passage
reading    texts as words and figures in one form; `words.toml` has the word lists
"""

from whence.matching.places import SCORES, Level, Verdict, match, match_parts
from whence.matching.reading import Reading, read, without_origin

__all__ = ["SCORES", "Level", "Reading", "Verdict", "match", "match_parts", "read", "without_origin"]
