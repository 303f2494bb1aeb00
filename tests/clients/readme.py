"""Runs the example of a package's README."""

import io
import os
import re
from contextlib import redirect_stdout
from pathlib import Path

PACKAGES = Path(__file__).parents[2] / "integrations"


def run_example(package: str) -> str:
    (block,) = re.findall(
        r"```python\n(.*?)```", (PACKAGES / package / "README.md").read_text("utf-8"), re.DOTALL
    )
    block = block.replace("http://127.0.0.1:8420", os.environ["WHENCE_URL"]).replace(
        "wh_…", os.environ["WHENCE_API_KEY"]
    )
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(block, {"__name__": "__main__"})  # noqa: S102 - a block of our own documentation
    return printed.getvalue()
