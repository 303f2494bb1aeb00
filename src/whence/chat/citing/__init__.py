"""The validator of citations, used by every chat surface.

validator        markers become `[<id>]` of a source, or go
markers          the forms of a citation
marker_cleanup   what goes with a removed marker
false_markers    numbers in brackets that are text        array_indexes   `a[1]`
code_blocks      code, which is left alone
passage_index    the passages a marker may name
partial_text     input that is still arriving             output_buffer   output that can still be cut
"""

from whence.chat.citing.validator import CitationStream, Cited, Validated, validate, without_citations

__all__ = ["CitationStream", "Cited", "Validated", "validate", "without_citations"]
