"""Ingests the demo documents, asks about them and writes an evidence file of the last answer: part of `make demo`.

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
PDF = Path(__file__).parent / "graph" / "sign_in.pdf"
WHENCE = Path(sys.executable).with_name("whence")
QUESTIONS = (
    "Why did repairs go over budget?",
    "How long are audiobooks lent?",
    "Who won the chess tournament?",
)
ON_A_PAGE = "When does the office open and close?"
_ELSEWHERE = ("WHENCE_URL", "WHENCE_API_KEY", "WHENCE_DATABASE_URL", "WHENCE_STORAGE_URL")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = {name: text for name, text in os.environ.items() if name not in _ELSEWHERE}
        environment = {**own, "WHENCE_DATA_DIR": folder}
        run(environment, "ingest", "--strategy", "paragraph", "--max", "600", str(DOCUMENTS), str(PDF))
        for question in QUESTIONS:
            run(environment, "ask", question)
        evidence = Path(tempfile.mkdtemp(prefix="whence-")) / "evidence.html"
        run(environment, "ask", ON_A_PAGE, "--evidence", str(evidence))
        print(f"\nOpen {evidence}: the answer with its quote, highlighted on the page of the PDF.")


def run(environment: dict[str, str], *arguments: str) -> None:
    shown = [os.path.relpath(one) if one in (str(DOCUMENTS), str(PDF)) else one for one in arguments]
    print(f"\n$ whence {shlex.join(shown)}", flush=True)
    subprocess.run([WHENCE, *arguments], env=environment, check=True)


if __name__ == "__main__":
    main()
