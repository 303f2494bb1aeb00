"""Answerers by name: ours, and those of installed distributions.

A distribution offers one with an entry point of the group `whence.answerers`. The entry point has the answerer's name; its object
is the answerer, or a class that creates it without arguments.
"""

from importlib.metadata import EntryPoint, entry_points

from whence.chat import Answerer
from whence.errors import SettingsError
from whence.offline.answerer import ExtractiveAnswerer

ENTRY_POINT_GROUP = "whence.answerers"

_OURS: dict[str, Answerer] = {one.name: one for one in (ExtractiveAnswerer(),)}


def answerer(name: str = ExtractiveAnswerer().name) -> Answerer:
    """The answerer of that name. Raises SettingsError if there is none, or it cannot be loaded."""
    if name in _OURS:
        return _OURS[name]
    offered = {found.name: found for found in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in offered:
        known = ", ".join([*_OURS, *sorted(offered)])
        raise SettingsError(f"WHENCE_ANSWERER is {name!r}; expected one of {known}")
    return _load(offered[name])


def _load(found: EntryPoint) -> Answerer:
    try:
        loaded = found.load()
        made = loaded() if isinstance(loaded, type) else loaded
    except Exception as exc:  # a foreign import may raise anything
        raise SettingsError(f"The answerer {found.name!r} ({found.value}) cannot be loaded") from exc
    if not isinstance(made, Answerer) or made.name != found.name:
        raise SettingsError(f"{found.value} is no answerer named {found.name!r}")
    return made
