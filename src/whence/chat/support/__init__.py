"""Scores how well each sentence of an answer is supported by the chunks it cites.

scoring             the score and the quote of each citation
statements          an answer as sentences with their citations
assertions          which sentences ought to cite
passage_sentences   passages as sentences and their words
quantities          numbers, dates and times in one form
"""

from whence.chat.support.scoring import SUPPORTED, Citation, cite, support

__all__ = ["SUPPORTED", "Citation", "cite", "support"]
