"""Which addresses of the Internet the server may call on behalf of somebody."""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Final

# What is set aside for machines, networks, examples, groups of receivers, and times to come.
_SET_ASIDE_4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# All that is handed out of IPv6 lies in here: loopback, link-local and unique local addresses, groups, IPv4
# in IPv6 and its translation (64:ff9b::/96) do not.
_HANDED_OUT_6: Final = IPv6Network("2000::/3")
_SET_ASIDE_6: Final = tuple(
    IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")  # with Teredo and 6to4
)


def is_public(address: str) -> bool:
    """Return whether this is the address of a machine that anyone on the Internet may call."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _SET_ASIDE_4)
    return ip in _HANDED_OUT_6 and not any(ip in network for network in _SET_ASIDE_6)
