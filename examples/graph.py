"""Grows a knowledge graph from two documents, says where each value came from, and takes it back: part of `make demo`.

It works on a server and a data directory of its own, which are gone afterwards: nothing of yours is touched. No model is
asked: rules extract. The way is that of one requirement, OAuth 2.0: page 1 creates it, page 3 adds to it, page 4 has nothing new;
a second version of the schema asks for more; a later document contradicts it, and with that document goes what it said.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "graph"
WHENCE = Path(sys.executable).with_name("whence")
NAME = "OAuth 2.0"
CUT = ("--strategy", "paragraph", "--min", "20")
# Where something else than the folder of this demo would be used, or a model asked.
_ELSEWHERE = (
    *("WHENCE_URL", "WHENCE_API_KEY", "WHENCE_DATABASE_URL", "WHENCE_STORAGE_URL"),
    *("WHENCE_LLM_BASE_URL", "WHENCE_LLM_MODEL"),
)


@dataclass(frozen=True, slots=True)
class Demo:
    environment: dict[str, str]
    url: str

    def run(self, *arguments: str | Path) -> None:
        """A command as one would type it, and what it says."""
        shown = [os.path.relpath(one) if isinstance(one, Path) else one for one in arguments]
        print(f"\n$ whence {shlex.join(shown)}", flush=True)
        subprocess.run([WHENCE, *arguments], env=self.environment, check=True)

    def ask(self, path: str, method: str = "GET") -> Any:
        request = urllib.request.Request(f"{self.url}/api/v1{path}", method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]

    def document_named(self, name: str) -> str:
        found: str = next(one["id"] for one in self.ask("/documents")["items"] if one["name"] == name)
        return found

    def show(self, path: str, *fields: str, method: str = "GET") -> None:
        """A request as one would type it, and these fields of its answer."""
        option = "" if method == "GET" else f" -X {method}"
        print(f"\n$ curl -s{option} '{self.url}/api/v1{path}' | jq '.data | {{{', '.join(fields)}}}'")
        said = self.ask(path, method)
        print(json.dumps({name: said[name] for name in fields}, indent=2, ensure_ascii=False), flush=True)


@contextmanager
def demo() -> Iterator[Demo]:
    with tempfile.TemporaryDirectory() as folder:
        own = {name: text for name, text in os.environ.items() if name not in _ELSEWHERE}
        environment = {**own, "WHENCE_DATA_DIR": f"{folder}/data"}
        log = Path(folder) / "server.log"
        with log.open("wb") as out:
            server = subprocess.Popen([WHENCE, "serve", "--port=0"], env=environment, stderr=out)
        try:
            while not (found := re.search(r"serves (http://\S+)", log.read_text())):
                if server.poll() is not None:
                    sys.exit(f"The server did not start:\n{log.read_text()}")
                time.sleep(0.1)
            yield Demo({**environment, "WHENCE_URL": found[1]}, found[1])
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    with demo() as here:
        here.run("schema", "set", HERE / "schema-v1.json")
        here.run("ingest", *CUT, HERE / "sign_in.pdf")
        here.run("extract")
        here.run("trace", NAME)
        here.run("schema", "set", HERE / "schema-v2.json")
        here.run("extract", "--dry-run")
        here.run("extract")
        here.run("objects", "show", NAME)
        here.run("ingest", *CUT, HERE / "change_of_march.md")
        here.run("extract")
        here.run("trace", NAME, "--property", "expiration")
        changed = here.document_named("change_of_march.md")
        here.show(f"/documents/{changed}/deletion-impact", "name", "chunks", "property_claims", "graph")
        here.show(f"/documents/{changed}", "name", method="DELETE")
        here.run("objects", "show", NAME)


if __name__ == "__main__":
    main()
