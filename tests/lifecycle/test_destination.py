import asyncio
import socket
from ipaddress import IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.address import is_public
from app.domain.errors import ForbiddenAddress, InvalidRequest
from app.lifecycle.destination import addresses

V4_IN_V6 = ("::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/96", "::/96")
SPECIAL = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "::/127",
    "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fc00::/7", "fd00:ec2::254/128",
    "fe80::/10", "fec0::/10", "ff00::/8", *V4_IN_V6,
)  # fmt: skip


@given(st.one_of(st.ip_addresses(), *(st.ip_addresses(network=network) for network in SPECIAL)))
def test_what_python_calls_set_aside_is_never_public(address):
    aside = (
        address.is_private, address.is_loopback, address.is_link_local, address.is_multicast,
        address.is_reserved, address.is_unspecified, not address.is_global,
    )  # fmt: skip

    assert not (is_public(str(address)) and any(aside))


@given(st.sampled_from(SPECIAL).flatmap(lambda network: st.ip_addresses(network=network)))
def test_no_address_of_a_network_that_is_set_aside_is_public(address):
    assert not is_public(str(address))


@given(st.ip_addresses(v=4), st.sampled_from(V4_IN_V6))
def test_an_ipv4_address_dressed_as_ipv6_is_never_public(address, network):
    dressed = IPv6Address(int(ip_network(network).network_address) + int(address))

    assert not is_public(str(dressed))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "100.63.255.255", "172.32.0.1", "2606:4700::1111"])
def test_the_open_internet_is_public(address):
    assert is_public(address)


def find(url, **settings):
    return asyncio.run(addresses(url, **{"allow_private": False} | settings))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
     "169.254.169.254", "[64:ff9b::a9fe:a9fe]", "0", "10.1.2.3", "100.100.100.200", "[fe80::1]"],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_host_that_is_not_on_the_open_internet_is_forbidden_however_it_is_written(scheme, host):
    with pytest.raises(ForbiddenAddress, match="THIESSEN_ALLOW_PRIVATE_WEBHOOKS"):
        find(f"{scheme}://{host}:8080/hook")


def test_one_forbidden_address_among_many_forbids_the_host(monkeypatch):
    answers = [(None, None, None, "", (address, 0)) for address in ("1.1.1.1", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)

    with pytest.raises(ForbiddenAddress, match=r"127\.0\.0\.1"):
        find("https://two-faced.example/")
    assert find("https://two-faced.example/", allow_private=True) == ["1.1.1.1", "127.0.0.1"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "begins with http"),
        ("http:///path", "names a host"),
        ("https://user:hunter2@example.org/", "Leave them out"),
        ("https://example.org:99999/", "1 to 65535"),
        ("http://no.such.host.invalid/", "has no address"),
        (f"http://{'x' * 70}.example/", "no (URL|address)"),
    ],
)
def test_a_url_that_leads_nowhere_is_refused(url, said):
    with pytest.raises(InvalidRequest, match=said) as refused:
        find(url, allow_private=True)
    assert "hunter2" not in str(refused.value)
