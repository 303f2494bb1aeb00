"""Stored answers: conversations, and changes of the chunks that their answers cite.

service   asks with the history of a conversation, stores the answer, and refreshes it
shown     stored answers for the API, each with the reasons why it is stale
changes   compares two answers
files     conversations as files
"""

from whence.conversations.service import MAX_ANSWERS, ConversationService

__all__ = ["MAX_ANSWERS", "ConversationService"]
