"""A typed client of Whence, synchronous and asynchronous."""

from whence_client.aio import AsyncClient
from whence_client.client import Client
from whence_client.errors import (
    APIError,
    BadRequest,
    Conflict,
    Forbidden,
    NoAnswer,
    NotFound,
    RateLimited,
    ServerFailed,
    TimedOut,
    Unauthorized,
    UnexpectedAnswer,
    WhenceClientError,
)
from whence_client.events import AnswerEvent, Done, SourcesFound, Token, Verified
from whence_client.hits import metadata_of

__version__ = "0.1.0"
__all__ = [
    "APIError",
    "AnswerEvent",
    "AsyncClient",
    "BadRequest",
    "Client",
    "Conflict",
    "Done",
    "Forbidden",
    "NoAnswer",
    "NotFound",
    "RateLimited",
    "ServerFailed",
    "SourcesFound",
    "TimedOut",
    "Token",
    "Unauthorized",
    "UnexpectedAnswer",
    "Verified",
    "WhenceClientError",
    "metadata_of",
]
