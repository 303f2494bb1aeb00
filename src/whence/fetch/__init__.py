"""Fetches a URL into a file, for ingest. Trusts neither the URL nor the server behind it.

rules       limits of a fetch, and its result: pure
addresses   which addresses are refused or allowed: pure
targets     a checked URL with the addresses it may be fetched from
answers     one request to one of those addresses
body        the body: unpacked, counted, hashed, written
names       name, type and version of the file from the headers: pure
run         `fetch`: redirects, deadline, errors; `post`: one request with an answer in memory

`run` and `targets` load an HTTP client, so they are imported where a URL is fetched.
"""

from whence.fetch.addresses import Allowed
from whence.fetch.rules import Fetched, FetchRules

__all__ = ["Allowed", "FetchRules", "Fetched"]
