"""What is never connected to: not by its number, not by a name, not by a detour."""

import logging
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from httpx_secure import SSRFProtectionError
from hypothesis import given
from hypothesis import strategies as st
from tests.fetch.conftest import Names
from tests.fetch.site import Fetching, Site

from whence.errors import FetchFailed, URLRefused
from whence.fetch import Allowed, FetchRules, answers
from whence.fetch.addresses import NEVER, UNLESS_ALLOWED, refusal
from whence.fetch.run import fetch
from whence.fetch.targets import Target

REFUSED = {
    "loopback address": ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "a.localhost", "[::1]", "localhost."],
    "private address": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[fc00::1]", "[fd12::1]"],
    "link-local address": ["169.254.0.1", "[fe80::1]", "[fe80::1%25eth0]"],
    "cloud metadata address": [
        "169.254.169.254",
        "169.254.169.254.",
        "[fd00:ec2::254]",
        "metadata.google.internal",
        "metadata.google.internal.",
        "instance-data",
        "100.100.100.200",
        "168.63.129.16",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]",
    ],
    "carrier-grade NAT address": ["100.64.0.1", "100.127.255.255"],
    "multicast address": ["224.0.0.1", "239.255.255.255", "[ff02::1]"],
    "broadcast address": ["255.255.255.255"],
    "unspecified address": ["0.0.0.0", "0.1.2.3", "[::]", "[::ffff:0.0.0.0]"],
    "IPv4 in IPv6 address": ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:8.8.8.8]"],
    "NAT64 address": ["[64:ff9b::7f00:1]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::808:808]"],
    "6to4 address": ["[2002:7f00:1::1]", "[2002:808:808::1]"],
    "Teredo address": ["[2001:0:4136:e378:8000:63bf:3fff:fdd2]"],
    "documentation address": ["192.0.2.1", "[2001:db8::1]"],
    "benchmarking address": ["198.18.0.1"],
    "reserved address": ["240.0.0.1", "[100::1]"],
    "not public address": ["[4000::1]", "[2001:10::1]"],
    "a host of digits must be an address with four numbers": [
        "2130706433",
        "0x7f000001",
        "0X7F000001",
        "0x7f.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.1",
        "0",
        "1.0x",
        "1.2.3.4.5.",
    ],
    "not a host name": ["exa mple.org", "ex%61mple.org", "a..b", "-a.org", "127.0.0.1%00.org", "a" * 64 + ".org"],
    "not a URL": ["0177.0.0.1", "010.8.8.8", "xn--a", "１２７.０.０.１", "①②⑦.0.0.1", "ⓛocalhost", "[::1", "[::1]x", "example.org:port", "a\tb"],
    "no host": ["", ":80", "."],
    "no such port": ["example.org:0", "example.org:65536"],
    "credentials in the URL": ["user:hunter2@example.org", "hunter2@example.org", "a\\@127.0.0.1"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "host"), [(reason, host) for reason, hosts in REFUSED.items() for host in hosts]
)
async def test_hosts(reason: str, host: str, tmp_path: Path, names: Names) -> None:
    asked = names("nothing")
    with pytest.raises(URLRefused) as error:
        await fetch(f"http://{host}/secret?token=hunter2", into=tmp_path / "file", rules=FetchRules())
    assert error.value.details["reason"] == reason
    assert "hunter2" not in error.value.message + repr(error.value.details)
    assert asked == []
    assert not (tmp_path / "file").exists()


# An ideographic full stop is a dot in host names, and then these are digits.
async def test_other_dots(tmp_path: Path) -> None:
    with pytest.raises(URLRefused, match="loopback"):
        await fetch("http://127。0。0。1/", into=tmp_path / "file", rules=FetchRules())


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.org/", "gopher://a", "data:,x", "//example.org", "example.org"],
)
async def test_schemes(url: str, fetching: Fetching) -> None:
    with pytest.raises(URLRefused, match="only http and https"):
        await fetching(url)


CARRIERS = {
    "::/96": "::8.8.8.8",
    "::ffff:0:0/96": "::ffff:8.8.8.8",
    "::ffff:0:0:0/96": "::ffff:0:8.8.8.8",
    "64:ff9b::/96": "64:ff9b::8.8.8.8",
    "64:ff9b:1::/48": "64:ff9b:1::8.8.8.8",
    "2002::/16": "2002:808:808::",
    "2001::/32": "2001::f7f7:f7f7",
}
"""Ranges whose addresses carry another one, each with one that carries a public address."""


@pytest.mark.parametrize("text", [text for _, texts in UNLESS_ALLOWED for text in texts])
def test_a_range_is_refused_unless_allowed(text: str) -> None:
    address = ip_address(CARRIERS.get(text, text.partition("/")[0]))
    assert refusal(address, Allowed()) is not None
    assert refusal(address, Allowed.of([text])) is None


@pytest.mark.parametrize("text", [text for _, texts in NEVER for text in texts])
def test_a_few_are_refused_whatever_is_allowed(text: str) -> None:
    address = ip_address(text.partition("/")[0])
    everything = Allowed.of(["0.0.0.0/0", "::/0", "intranet"])
    assert refusal(address, everything, host="intranet") == refusal(address, Allowed()) is not None


@given(st.ip_addresses())
def test_what_passes_is_public(address: object) -> None:
    checked = ip_address(str(address))
    if refusal(checked, Allowed()) is None:
        assert checked.is_global
        assert not checked.is_multicast
        assert not checked.is_reserved


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"]
)
def test_public_addresses_pass(text: str) -> None:
    assert refusal(ip_address(text), Allowed()) is None


async def test_a_name_of_a_private_address(site: Site, fetching: Fetching, names: Names) -> None:
    names("evil.example", ("127.0.0.1",))
    nowhere = replace(fetching, rules=FetchRules())
    with pytest.raises(URLRefused, match="loopback") as error:
        await nowhere(site.url(host="evil.example"))
    assert error.value.details == {"host": "evil.example", "reason": "loopback address"}
    assert site.connections == 0  # not even a probe: whether a port is open is nobody's business


@pytest.mark.parametrize("answers", [("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "8.8.8.8"), ("8.8.8.8", "::1")])
async def test_one_private_address_among_public_ones(
    answers: tuple[str, ...], site: Site, fetching: Fetching, names: Names
) -> None:
    names("mixed.example", answers)
    with pytest.raises(URLRefused, match="loopback"):
        await replace(fetching, rules=FetchRules())(site.url(host="mixed.example"))
    assert site.connections == 0


async def test_rebinding(site: Site, fetching: Fetching, names: Names) -> None:
    """Checked is what is connected to: there is one look-up, and a second answer would change nothing."""
    site.sends("/", body=b"the first")
    asked = names("rebind.example", ("127.0.0.1",), ("127.0.0.2",), ("10.0.0.1",))
    await fetching.file(site.url(host="rebind.example"))
    assert asked == ["rebind.example"]
    assert fetching.into.read_bytes() == b"the first"
    with pytest.raises(URLRefused, match="loopback"):
        await fetching(site.url(host="rebind.example"))
    assert site.connections == 1


async def test_the_second_wall(site: Site) -> None:
    """Where the socket is opened, only what was checked is let through, whatever the request says."""
    url = httpx.URL(site.url())
    target = Target(url=url, host="127.0.0.1", addresses=(ip_address("8.8.8.8"),))
    async with answers._client(target) as client:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(SSRFProtectionError):
                await client.get(url.copy_with(host=host))
    assert site.requests == []


async def test_rebinding_between_hops(site: Site, fetching: Fetching, names: Names) -> None:
    site.redirects("/", "/next")
    asked = names("rebind.example", ("127.0.0.1",), ("169.254.169.254",))
    with pytest.raises(URLRefused, match="cloud metadata"):
        await fetching(site.url(host="rebind.example"))
    assert asked == ["rebind.example"] * 2
    assert [request.path for request in site.requests] == ["/"]


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/",
        "http://localhost/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://2130706433/",
        "http://127.1/",
        "file:///etc/passwd",
        "http://user:hunter2@example.org/",
        "http://inside.example/",
    ],
)
async def test_redirects_are_checked(location: str, site: Site, fetching: Fetching, names: Names) -> None:
    names("inside.example", ("192.168.0.1",))
    with pytest.raises(URLRefused) as error:
        await fetching(site.redirects("/", location))
    assert "hunter2" not in error.value.message + repr(error.value.details)
    assert len(site.requests) == 1


async def test_a_name_that_does_not_resolve(fetching: Fetching, names: Names) -> None:
    names("nothing")
    with pytest.raises(FetchFailed) as error:
        await fetching("http://nowhere.example/")
    assert error.value.details == {"host": "nowhere.example", "reason": "dns"}


async def test_the_environment_names_no_proxy(
    site: Site, fetching: Fetching, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    await fetching.file(site.sends("/", body=b"direct"))
    assert fetching.into.read_bytes() == b"direct"


class TestAllowed:
    async def test_a_host(self, site: Site, fetching: Fetching, names: Names) -> None:
        names("wiki.corp", ("127.0.0.1",))
        names("other.corp", ("127.0.0.1",))
        site.sends("/")
        intranet = replace(fetching, rules=FetchRules(allow=Allowed.of(["Wiki.corp"])))
        await intranet.file(site.url(host="wiki.corp"))
        await intranet.file(site.url(host="WIKI.corp."))
        with pytest.raises(URLRefused):
            await intranet(site.url(host="other.corp"))
        with pytest.raises(URLRefused):
            await intranet(site.url())

    def test_subdomains(self) -> None:
        allowed = Allowed.of(["*.docs.corp"])
        assert allowed.has_host("a.docs.corp")
        assert allowed.has_host("a.b.docs.corp")
        assert not any(map(allowed.has_host, ("docs.corp", "adocs.corp", "a.docs.corp.evil.org", "*", "")))

    def test_localhost_by_name(self) -> None:
        assert refusal(ip_address("::1"), Allowed.of(["localhost"]), host="localhost") is None

    def test_a_network(self) -> None:
        allowed = Allowed.of(["10.1.0.0/16"])
        assert refusal(ip_address("10.1.2.3"), allowed) is None
        assert refusal(ip_address("10.2.0.1"), allowed) == "private"
        assert refusal(ip_address("::ffff:10.1.2.3"), allowed) == "IPv4 in IPv6"

    def test_behind_nat64(self) -> None:
        allowed = Allowed.of(["64:ff9b::/96"])
        assert refusal(ip_address("64:ff9b::8.8.8.8"), allowed) is None
        assert refusal(ip_address("64:ff9b::10.0.0.1"), allowed) == "private"
        assert refusal(ip_address("64:ff9b::7f00:1"), allowed) == "loopback"


async def test_what_is_logged(site: Site, fetching: Fetching, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="whence")
    site.sends("/page")
    await fetching.file(site.url("/page?token=hunter2"))
    with pytest.raises(URLRefused):
        await fetching("http://10.0.0.1/x?token=hunter2#hunter2")
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("whence")]
    assert messages[0].startswith(f"fetched {site.url('/page')}: 0 bytes in ")
    assert messages[1:] == ["did not fetch http://10.0.0.1/x: private address"]
