"""Fetches a URL into a file, for ingest. Trusts neither the URL nor the server behind it.

addresses   which addresses are refused or allowed: pure
targets     a checked URL with the addresses it may be fetched from
answers     one request to one of those addresses
body        the body: unpacked, counted, hashed, written
names       name, type and version of the file from the headers: pure
run         `fetch`: redirects, deadline, errors
"""

from whence.fetch.addresses import Allowed
from whence.fetch.run import Fetched, FetchRules, fetch
from whence.fetch.targets import parse

__all__ = ["Allowed", "FetchRules", "Fetched", "fetch", "parse"]
