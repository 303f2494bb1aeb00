"""The extractors of an installation, by name.

`app.py` collects them: the model behind a configured endpoint, the rules, and those of other distributions. A distribution offers
one with an entry point of the group `whence.extraction`. The entry point has the extractor's name; its object is the extractor, or
a class that creates it without arguments.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points

from whence.errors import BadInput, Conflict, SettingsError
from whence.extract.context import ContextOptions
from whence.extract.extractors import Extractor, ModelExtractor
from whence.models import ExtractorName
from whence.offered import load_offered

log = logging.getLogger("whence.extract")

ENTRY_POINT_GROUP = "whence.extraction"
MODEL = "model"
_OURS = frozenset([MODEL, "rules"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractors:
    model: ModelExtractor | None = None
    """None if no endpoint is configured."""
    others: Mapping[ExtractorName, Extractor] = field(default_factory=dict)
    """Extractors that need no configured endpoint. The first is the default without a model."""

    @property
    def default(self) -> ExtractorName:
        return MODEL if self.model is not None else next(iter(self.others))

    def require_known(self, name: ExtractorName | None) -> None:
        """Checks a project's choice. `model` is allowed without an endpoint, since one may be configured later."""
        if name not in (None, MODEL, *self.others):
            details = {"field": "config.extractor", "provided": name, "expected": self._names}
            raise BadInput(f"config.extractor must be {self._names}", details=details)

    def choose(self, name: ExtractorName | None) -> ExtractorName:
        """The project's choice, or the default. Raises Conflict if the choice is not available."""
        if name == MODEL and self.model is None:
            message = "The project wants a model to extract, and none is named: see WHENCE_LLM_BASE_URL"
            raise Conflict(message, details={"extractor": name})
        if name not in (None, MODEL, *self.others):
            message = f"The project wants the extractor {name!r}, and no installed distribution offers it"
            raise Conflict(message, details={"extractor": name, "expected": self._names})
        return name or self.default

    def get(self, name: ExtractorName, options: ContextOptions) -> Extractor:
        """The extractor that `choose` named."""
        if name == MODEL and self.model is not None:
            return replace(self.model, options=options)
        return self.others[name]

    @property
    def _names(self) -> str:
        return f"one of {', '.join([MODEL, *self.others])}"


def offered_extractors() -> dict[ExtractorName, Extractor]:
    """Extractors of other distributions. One that fails to load is logged and skipped; our own names cannot be replaced."""
    offered = (found for found in entry_points(group=ENTRY_POINT_GROUP) if found.name not in _OURS)
    loaded = ((found.name, _load(found)) for found in sorted(offered, key=lambda found: found.name))
    return {name: extractor for name, extractor in loaded if extractor is not None}


def _load(found: EntryPoint) -> Extractor | None:
    try:
        made: Extractor = load_offered(found, Extractor, "extractor", SettingsError)
    except SettingsError as exc:  # the other extractors must still work
        log.exception("%s", exc.message)
        return None
    return made
