"""Turns a file into text and a page map. The content decides the type; foreign code runs in a child process."""

from whence.parse.detect import HEAD, detect, is_code, readable, type_of_ending
from whence.parse.parsed import Parsed, Refused, page_at
from whence.parse.parser import Parser
from whence.parse.process import Limits

__all__ = [
    "HEAD",
    "Limits",
    "Parsed",
    "Parser",
    "Refused",
    "detect",
    "is_code",
    "page_at",
    "readable",
    "type_of_ending",
]
