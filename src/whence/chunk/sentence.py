"""Packs whole sentences into chunks."""

from whence.chunk.base import ChunkingOptions, ChunkResult, Piece, as_chunks, merge_short, spans_as_chunks
from whence.chunk.boundaries import SentenceRule, cut_sentence, sentence_ends
from whence.chunk.graphemes import first_content


class SentenceStrategy:
    """`rule` overrides the sentence ends: a pattern whose matches end sentences, or a callable that lists the ends."""

    name = "sentence"

    def __init__(self, rule: SentenceRule | None = None) -> None:
        self._rule = rule

    def chunk(self, text: str, options: ChunkingOptions) -> list[ChunkResult]:
        starts, ends, inside = self._pack(text, options.max_chunk_size)
        # Packing is greedy, so two neighbours fit in one chunk only where a sentence was cut.
        if not inside:
            return spans_as_chunks(text, starts, ends, "sentence")
        pieces: list[Piece] = [
            (text[start:end], start, end, "character" if start in inside else "sentence", ())
            for start, end in zip(starts, ends, strict=True)
        ]
        return as_chunks(merge_short(text, pieces, options))

    def _pack(self, text: str, size: int) -> tuple[list[int], list[int], set[int]]:
        """Starts and ends of the chunks, and those starts that are inside a cut sentence.

        Slices nothing yet: in a large text it is faster to find all offsets first.
        """
        last_end = sentence_ends(text, self._rule)
        content = len(text.rstrip())
        starts: list[int] = []
        ends: list[int] = []
        inside: set[int] = set()
        start = first_content(text, 0)
        while (limit := start + size) < content:
            starts.append(start)
            if (end := last_end(start, limit)) > 0:
                ends.append(end)
                # Fast path: mostly a single space or one blank line follows.
                if text[end] == " ":
                    if "!" <= text[end + 1] <= "~":
                        start = end + 1
                        continue
                elif text[end : end + 2] == "\n\n" and "!" <= text[end + 2] <= "~":
                    start = end + 2
                    continue
                start = first_content(text, end)
            else:
                end = cut_sentence(text, start, limit)
                ends.append(end)
                start = first_content(text, end)
                inside.add(start)
        if start < content:
            starts.append(start)
            ends.append(content)
        return starts, ends, inside
