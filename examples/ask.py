"""Ingests the demo documents and asks three questions about them: part of `make demo`.

It works in a data directory of its own, which is gone afterwards: nothing of yours is touched. No network is needed;
with WHENCE_LLM_BASE_URL and WHENCE_LLM_MODEL set, that model answers.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENTS = Path(__file__).parent / "documents"
WHENCE = Path(sys.executable).with_name("whence")
QUESTIONS = (
    "Why did repairs go over budget?",
    "How long are audiobooks lent?",
    "Who won the chess tournament?",
)
_ELSEWHERE = ("WHENCE_DATABASE_URL", "WHENCE_STORAGE_URL")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = {name: text for name, text in os.environ.items() if name not in _ELSEWHERE}
        environment = {**own, "WHENCE_DATA_DIR": folder}
        run(environment, "ingest", "--strategy", "paragraph", "--max", "600", str(DOCUMENTS))
        for question in QUESTIONS:
            run(environment, "ask", question)
        evidence = Path(tempfile.gettempdir()) / "whence-evidence.html"
        run(environment, "ask", QUESTIONS[0], "--evidence", str(evidence))
        print(f"\nOpen {evidence}: the answer with its quotes and the highlighted lines of the pages.")


def run(environment: dict[str, str], *arguments: str) -> None:
    shown = [os.path.relpath(one) if one == str(DOCUMENTS) else one for one in arguments]
    print(f"\n$ whence {shlex.join(shown)}", flush=True)
    subprocess.run([WHENCE, *arguments], env=environment, check=True)


if __name__ == "__main__":
    main()
