"""Sends one request to one of a target's addresses, and to no other."""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache

import httpx
from httpx_secure import SSRFProtectionError, httpx_ssrf_protection

from whence import __version__
from whence.errors import FetchFailed, FetchTimeout
from whence.fetch.addresses import IPAddress
from whence.fetch.targets import Target, failed, refused

_CONNECT_SECONDS = 10.0
_HEADERS = {
    "User-Agent": f"whence/{__version__}",
    "Accept": "*/*",
    # The only encoding that `body` unpacks; httpx would unpack several at once, without a limit.
    "Accept-Encoding": "gzip",
}


_FAILURES: tuple[tuple[type[Exception], str, str], ...] = (
    (ssl.SSLCertVerificationError, "certificate", "The certificate of {host} is not trusted"),
    (ssl.SSLError, "tls", "{host} could not be spoken to over TLS"),
    (httpx.ConnectError, "connection", "{host} could not be connected to"),
    (httpx.LocalProtocolError, "protocol", "{host} cannot be asked for this"),
    (httpx.RemoteProtocolError, "protocol", "{host} broke off or did not keep to HTTP"),
    (httpx.TransportError, "connection", "The connection to {host} broke"),
)


@asynccontextmanager
async def answer(
    target: Target, headers: Mapping[str, str], *, post: bytes | None = None
) -> AsyncIterator[httpx.Response]:
    """The response of the first address that accepts a connection, with its body unread; `post` is sent as JSON."""
    with _translated(target.host):
        for address in target.addresses:
            async with _client(target) as client:
                try:
                    request = _request(client, target, address, headers, post)
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    if address == target.addresses[-1]:
                        raise
                    continue
                except (httpx.InvalidURL, ValueError) as exc:
                    # httpx parses the target of a redirect even if it does not follow it.
                    raise failed(target.host, "redirects", f"{target.host} redirects to no URL") from exc
                yield response
                return


def _client(target: Target) -> httpx.AsyncClient:
    """A client for one request: hosts never share cookies or connections.

    It ignores proxies in the environment: a proxy would connect for us, to an unchecked address.
    """
    client = httpx.AsyncClient(
        trust_env=False,
        verify=_tls(),
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),  # the caller sets the overall deadline
    )
    # The request already names a checked address. This second check happens when the socket is opened.
    return httpx_ssrf_protection(
        client,
        check_globally_reachable=False,
        custom_validator=lambda _host, address, _port: address in target.addresses,
    )


def _request(
    client: httpx.AsyncClient,
    target: Target,
    address: IPAddress,
    headers: Mapping[str, str],
    post: bytes | None,
) -> httpx.Request:
    """Connects by IP address, so that nothing resolves the name again. Host header and TLS still use the name."""
    extensions = {} if target.is_literal else {"sni_hostname": target.host}
    kind = {} if post is None else {"Content-Type": "application/json"}
    return client.build_request(
        "GET" if post is None else "POST",
        target.url.copy_with(host=str(address)),
        content=post,
        headers={"Host": target.url.netloc.decode("ascii"), **_HEADERS, **kind, **headers},
        extensions=extensions,
    )


@cache
def _tls() -> ssl.SSLContext:
    """Trusts public authorities and those of this machine: an intranet has its own."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


@contextmanager
def _translated(host: str) -> Iterator[None]:
    """Translates httpx errors. Their messages stay in the log: they may repeat the server's words."""
    try:
        yield
    except SSRFProtectionError as exc:
        raise refused(host, "not the address that was checked") from exc
    except httpx.TimeoutException as exc:
        details = {"host": host, "reason": "connection"}
        raise FetchTimeout(f"{host} could not be connected to in time", details=details) from exc
    except httpx.TransportError as exc:
        raise _explain(host, exc) from exc


def _explain(host: str, exc: httpx.TransportError) -> FetchFailed:
    causes: list[BaseException] = [exc]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    reason, words = next(
        (reason, words) for kind, reason, words in _FAILURES if any(isinstance(each, kind) for each in causes)
    )
    return failed(host, reason, words.format(host=host))
