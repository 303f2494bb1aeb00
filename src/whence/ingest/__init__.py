"""The write path: a file comes in, is kept, read, cut, embedded and stored; and how it goes away again.

inbox      bytes on their way in            receive    the document, its job and its place in the queue
assignment what a job is to do              visit      documents from URLs
run        read, cut, embed, keep           reuse      which stored chunk a new one is
giving_up  what goes on when a run came to nothing
room       how much text is in hand at the same time
places     which document is that of which file
spaces     the model a project's vectors are of, and the move to another
withdraw   deleting, originals included
"""

from whence.ingest.delete import Remover
from whence.ingest.failure import cancel_ingest
from whence.ingest.file_identity import Placed, Places, settled
from whence.ingest.inbox import Inbox, IncomingFile
from whence.ingest.job_spec import Chunking, base_name, clean_name
from whence.ingest.memory_budget import Room
from whence.ingest.receive import INGEST, Receipt, Receiver
from whence.ingest.run import Ingest
from whence.ingest.urls import Visitor

__all__ = [
    "INGEST",
    "Chunking",
    "Inbox",
    "IncomingFile",
    "Ingest",
    "Placed",
    "Places",
    "Receipt",
    "Receiver",
    "Remover",
    "Room",
    "Visitor",
    "base_name",
    "cancel_ingest",
    "clean_name",
    "settled",
]
