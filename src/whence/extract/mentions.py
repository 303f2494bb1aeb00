"""Where the primary chunk mentions an object: by its name, or by an alias that the context resolves. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence

from whence.chunk_findings import FoundAlias
from whence.extract.context import KnownObject
from whence.extract.grounding import FoundQuote
from whence.models import ObjectKey
from whence.text.aliases import References, TypedName
from whence.text.names import name_key


class Mentions:
    def __init__(
        self,
        primary: str,
        context: Sequence[str],
        *,
        before: str,
        known: Collection[KnownObject],
        proposed: Iterable[TypedName],
        find: Callable[[str], FoundQuote | None],
    ) -> None:
        """`find` looks for a name in the primary chunk."""
        self._primary = primary
        self._find_name = find
        self._known = {(each.type, each.name_key): each for each in known}
        self._references = References(
            primary,
            context,
            before=before,
            known=[TypedName(each.type, each.name) for each in known],
            proposed=list(proposed),
        )
        self._found: dict[ObjectKey, tuple[FoundQuote | None, FoundQuote | None]] = {}
        """The mention, and the alias to store."""

    def find(self, kind: str, name: str) -> FoundQuote | None:
        """The name in the primary chunk, or else the alias."""
        return self._find(kind, name)[0]

    def alias(self, kind: str, name: str) -> FoundQuote | None:
        """An alias in the primary chunk that can be stored: not a pronoun."""
        return self._find(kind, name)[1]

    def is_called(self, kind: str, name: str, said: str) -> bool:
        """Whether the primary chunk calls the object by this normalised name."""
        return any(span and name_key(span.quote) == said for span in self._find(kind, name))

    def aliases(self, objects: Iterable[ObjectKey]) -> tuple[FoundAlias, ...]:
        """The aliases of these objects that are stored."""
        found = ((key, self._find(*key)[1]) for key in dict.fromkeys(objects))
        return tuple(
            FoundAlias(
                of=self._known[key].id if key in self._known else key,
                alias=span.quote,
                start_offset=span.start,
                end_offset=span.end,
            )
            for key, span in found
            if span
        )

    def _find(self, kind: str, name: str) -> tuple[FoundQuote | None, FoundQuote | None]:
        key = (kind, name_key(name))
        if key not in self._found:
            span, known = self._find_name(name), self._known.get(key)
            stored = known.aliases if known else ()
            alias = (
                self._references.defined(name)
                if span
                else self._references.find(TypedName(kind, name), stored)
            )
            called = alias and FoundQuote(
                quote=self._primary[alias.start : alias.end], start=alias.start, end=alias.end
            )
            self._found[key] = span or called, called if alias and alias.is_lasting else None
        return self._found[key]
