"""Lasting links to documents, spans, objects, answers and conversations. Pure.

A link to a span names the document's version, so that it can be followed when the text has changed since.
"""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Links:
    base: str | None = None
    """The address of the server, without a slash at the end; None makes no links."""

    def document(
        self,
        document_id: UUID | str | None,
        *,
        version: int | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> str | None:
        if self.base is None or document_id is None:
            return None
        parts = [f"span={start}-{end}"] if start is not None and end is not None else []
        parts += [f"v={version}"] if version else []
        return f"{self.base}/d/{document_id}{'?' if parts else ''}{'&'.join(parts)}"

    def object(self, object_id: UUID | str) -> str | None:
        return self._to("o", object_id)

    def answer(self, answer_id: UUID | str) -> str | None:
        return self._to("a", answer_id)

    def conversation(self, conversation_id: UUID | str) -> str | None:
        return self._to("c", conversation_id)

    def _to(self, kind: str, ident: UUID | str) -> str | None:
        return None if self.base is None else f"{self.base}/{kind}/{ident}"


NO_LINKS = Links()
