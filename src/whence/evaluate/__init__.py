"""Measures search and answers of a project with questions whose answers are known.

files      reads questions and earlier reports      run     asks the questions
measures   the measures, pure                       draft   drafts questions from documents
"""

from whence.evaluate.draft import Drafter
from whence.evaluate.files import read_questions, read_report
from whence.evaluate.measures import compare, total
from whence.evaluate.run import Evaluation

__all__ = ["Drafter", "Evaluation", "compare", "read_questions", "read_report", "total"]
