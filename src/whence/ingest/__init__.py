"""The write path: receive a file, parse, chunk, embed and store it; and delete it again.

inbox     temporary files for uploads   receive        creates the document, its job and its task; ends it
job_spec  a job's `config`              urls           documents from URLs
run       parse, chunk, embed           publish        replaces a document's version
reembed   changes the embedding model   file_identity  matches files to documents after moves
delete    deletes rows and originals
"""

from whence.ingest.delete import Remover
from whence.ingest.inbox import Inbox, IncomingFile
from whence.ingest.job_spec import Chunking, Receipt, base_name, clean_name
from whence.ingest.receive import INGEST, Receiver, cancel_ingest
from whence.ingest.run import Ingest, Room
from whence.ingest.urls import Visitor

__all__ = [
    "INGEST",
    "Chunking",
    "Inbox",
    "IncomingFile",
    "Ingest",
    "Receipt",
    "Receiver",
    "Remover",
    "Room",
    "Visitor",
    "base_name",
    "cancel_ingest",
    "clean_name",
]
