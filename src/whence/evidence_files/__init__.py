"""Evidence files: an answer, or the properties of an object, with quotes, places and pictures of the pages, as one file.

proofs   gathers the content of a file
html     one HTML file without script        prov     PROV-JSON and Web Annotations
"""

from whence.evidence_files.html import as_html
from whence.evidence_files.proofs import EvidenceFile, of_answer, of_object
from whence.evidence_files.prov import as_json

__all__ = ["EvidenceFile", "as_html", "as_json", "of_answer", "of_object"]
