"""Resolves a URL to the addresses it may be fetched from: one look-up, every result checked."""

import asyncio
import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address

import httpx

from whence.errors import FetchFailed, URLRefused
from whence.fetch.addresses import Allowed, IPAddress, refusal

_PORTS = range(1, 65_536)
_MAX_HOST = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# Some resolvers accept 2130706433, 0x7f000001, 0177.0.0.1 and 127.1 as addresses, and disagree on which.
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
_LOCAL = re.compile(r"(?:.*\.)?localhost(?:\.localdomain)?")
_METADATA = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    url: httpx.URL
    host: str
    """As looked up: ASCII, lower case, without a trailing dot."""
    addresses: tuple[IPAddress, ...]
    """The only addresses to connect to, even if the name resolves differently later."""

    @property
    def is_literal(self) -> bool:
        return _literal(self.host) is not None


def parse(url: str) -> httpx.URL:
    """The URL without its fragment. Raises `URLRefused` for a bad scheme, port or host, and for credentials."""
    try:
        parsed = httpx.URL(url.strip())
        _ = parsed.host  # decodes xn-- labels, and raises only here
    except (httpx.InvalidURL, ValueError):
        # Not chained: the parser's message repeats parts of the URL, perhaps a password.
        raise refused("", "not a URL") from None
    if parsed.scheme not in {"http", "https"}:
        raise refused("", "only http and https are fetched")
    # Before the host is used: an error must not show credentials as the host.
    if parsed.userinfo or b"@" in parsed.netloc:
        raise refused("", "credentials in the URL")
    host = parsed.raw_host.decode("ascii").lower().removesuffix(".")
    if parsed.port is not None and parsed.port not in _PORTS:
        raise refused(host, "no such port")
    if _literal(host) is None:
        _check_name(host)
    return parsed.copy_with(host=host, fragment=None)


async def resolve(url: httpx.URL, allowed: Allowed) -> Target:
    host = url.raw_host.decode("ascii")
    literal = _literal(host)
    if literal is None and not allowed.has_host(host):
        if _LOCAL.fullmatch(host):
            raise refused(host, "loopback address")
        if host in _METADATA:
            raise refused(host, "cloud metadata address")
    addresses = (literal,) if literal else await _look_up(host)
    for address in addresses:
        # One bad address refuses the host; otherwise its owner could choose which one we connect to.
        reason = refusal(address, allowed, host=host)
        if reason:
            raise refused(host, f"{reason} address")
    return Target(url=url, host=host, addresses=addresses)


def refused(host: str, reason: str) -> URLRefused:
    # Never names the address: callers must not learn how names resolve inside the network.
    of = f" of {host}" if host else ""
    return URLRefused(f"This URL{of} is not fetched: {reason}", details={"host": host, "reason": reason})


def failed(host: str, reason: str, words: str, **more: int) -> FetchFailed:
    return FetchFailed(words, details={"host": host, "reason": reason, **more})


def _literal(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _check_name(host: str) -> None:
    if not host:
        raise refused("", "no host")
    if _NUMERIC.fullmatch(host):
        raise refused(host, "a host of digits must be an address with four numbers")
    if len(host) > _MAX_HOST or not _HOST.fullmatch(host):
        raise refused("", "not a host name")


async def _look_up(host: str) -> tuple[IPAddress, ...]:
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError) as exc:  # UnicodeError: names that the system cannot encode
        raise failed(host, "dns", f"The name {host} could not be looked up") from exc
    return tuple(dict.fromkeys(ip_address(str(answer[4][0])) for answer in answers))
