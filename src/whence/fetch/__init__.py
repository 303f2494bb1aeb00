"""URL -> a file on disk, for ingest. Whoever gives the URL is not trusted, and neither is who answers.

addresses   which addresses are refused, and what an allow-list changes: pure
targets     a URL, checked, with the addresses that it may be fetched from
answers     one request to one of those addresses
body        what streams in: unpacked, counted, hashed, written
names       what the headers say the file is: pure
run         `fetch`: redirects, deadline, errors
"""

from whence.fetch.addresses import Allowed
from whence.fetch.run import Fetched, FetchRules, NotModified, fetch
from whence.fetch.targets import parse

__all__ = ["Allowed", "FetchRules", "Fetched", "NotModified", "fetch", "parse"]
