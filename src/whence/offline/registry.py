"""Answerers by name: ours, and those of installed distributions.

A distribution offers one with an entry point of the group `whence.answerers`. The entry point has the answerer's name; its object
is the answerer, or a class that creates it without arguments.
"""

from importlib.metadata import entry_points

from whence.chat import Answerer
from whence.errors import SettingsError
from whence.offered import load_offered
from whence.offline.answerer import ExtractiveAnswerer

ENTRY_POINT_GROUP = "whence.answerers"


def answerer(name: str = ExtractiveAnswerer.name) -> Answerer:
    """The answerer of that name. Raises SettingsError if there is none, or it cannot be loaded."""
    if name == ExtractiveAnswerer.name:
        return ExtractiveAnswerer()
    offered = {found.name: found for found in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in offered:
        known = ", ".join([ExtractiveAnswerer.name, *sorted(offered)])
        raise SettingsError(f"WHENCE_ANSWERER is {name!r}; expected one of {known}")
    made: Answerer = load_offered(offered[name], Answerer, "answerer", SettingsError)
    return made
