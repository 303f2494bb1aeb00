"""The validator of citations, used by every chat surface.

validator        replaces markers by `[<id>]` of a source, or removes them
markers          the forms of a citation            marker_cleanup  removes a marker and its punctuation
false_markers    numbers in brackets that are text  code_blocks     code, which stays unchanged
source_index     the sources a marker may name      output_buffer   output that can still be cut
restyle          citations in another form, for clients that show no ids
"""

from whence.chat.citing.validator import (
    CitationStream,
    Cited,
    Validated,
    Verbatim,
    validate,
    without_citations,
)

__all__ = ["CitationStream", "Cited", "Validated", "Verbatim", "validate", "without_citations"]
