"""Decides which addresses are refused, and why. Pure: no look-ups.

The ranges are listed here because the standard library changes its `is_global` between patch releases.
It is still checked last, for ranges that IANA has reserved since.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

NEVER: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "cloud metadata",
        (
            "169.254.169.254",  # nearly every cloud
            "169.254.170.2",  # AWS: credentials of containers
            "169.254.170.23",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",  # Google
            "100.100.100.200",  # Alibaba
            "192.0.0.192",  # Oracle
            "168.63.129.16",  # Azure: a public address that only its own machines reach
        ),
    ),
    ("unspecified", ("0.0.0.0/8", "::/128")),  # connects to the machine itself
    ("multicast", ("224.0.0.0/4", "ff00::/8")),
    ("broadcast", ("255.255.255.255",)),
)
"""Refused even if an allow-list has them: no documents are there."""

UNLESS_ALLOWED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("loopback", ("127.0.0.0/8", "::1/128")),
    ("private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")),
    ("link-local", ("169.254.0.0/16", "fe80::/10")),
    ("carrier-grade NAT", ("100.64.0.0/10",)),
    # These contain an IPv4 address, which a router or the system unpacks after the check.
    ("IPv4 in IPv6", ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96")),
    ("NAT64", ("64:ff9b::/96", "64:ff9b:1::/48")),
    ("6to4", ("2002::/16", "192.88.99.0/24")),
    ("Teredo", ("2001::/32",)),
    ("documentation", ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")),
    ("benchmarking", ("198.18.0.0/15", "2001:2::/48")),
    ("reserved", ("192.0.0.0/24", "240.0.0.0/4", "100::/64", "5f00::/16")),
)

_GLOBAL_UNICAST = IPv6Network("2000::/3")


def _table(rows: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[IPNetwork, str], ...]:
    return tuple((ip_network(text), reason) for reason, texts in rows for text in texts)


_NEVER = _table(NEVER)
_UNLESS_ALLOWED = _table(UNLESS_ALLOWED)
_WRAPPERS = tuple(network for network, reason in _UNLESS_ALLOWED if reason in {"IPv4 in IPv6", "NAT64"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Targets that are allowed although they are not public: hosts, `*.domain`, addresses and networks."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPNetwork, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> "Allowed":
        hosts, networks = set(), []
        for entry in entries:
            try:
                networks.append(ip_network(entry))
            except ValueError:
                hosts.add(entry.lower())
        return cls(hosts=frozenset(hosts), networks=tuple(networks))

    def has_host(self, host: str) -> bool:
        labels = host.split(".")
        parents = (".".join(labels[index:]) for index in range(1, len(labels)))
        return host in self.hosts or any(f"*.{parent}" in self.hosts for parent in parents)

    def has_address(self, address: IPAddress) -> bool:
        return any(address in network for network in self.networks)


def refusal(address: IPAddress, allowed: Allowed, *, host: str = "") -> str | None:
    """Why this address is refused, in a word or two; None if it is allowed."""
    inner = _inside(address)
    never = _reason(address, _NEVER) or (inner and _reason(inner, _NEVER))
    if never:
        return never
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "link-local"
    if allowed.has_host(host):
        return None
    if allowed.has_address(address):
        # An allowed NAT64 prefix, for a network with no other way out, does not allow the addresses behind it.
        return refusal(inner, allowed) if inner else None
    unicast = isinstance(address, IPv4Address) or address in _GLOBAL_UNICAST
    is_public = unicast and address.is_global
    return _reason(address, _UNLESS_ALLOWED) or (None if is_public else "not public")


def _reason(address: IPAddress, table: tuple[tuple[IPNetwork, str], ...]) -> str | None:
    return next((reason for network, reason in table if address in network), None)


def _inside(address: IPAddress) -> IPv4Address | None:
    if (
        isinstance(address, IPv4Address) or address.is_loopback
    ):  # ::1 is in ::/96 but contains no IPv4 address
        return None
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if any(address in network for network in _WRAPPERS):
        return IPv4Address(address.packed[-4:])
    return None
