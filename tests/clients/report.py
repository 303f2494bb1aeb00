"""What a client's script hands back to the test: one line of JSON, with a row for each way to ask.

The example of docs/clients.md comes on standard input, and is run in the same process: loading a client takes long.
"""

import io
import json
import sys
from contextlib import redirect_stdout
from typing import Any


def report(rows: dict[str, dict[str, Any]], **more: Any) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(sys.stdin.read(), {"__name__": "__main__"})  # noqa: S102 - a block of our own documentation
    told = {"rows": rows, "printed": printed.getvalue(), **more}
    sys.stdout.write(f"\n{json.dumps(told, default=lambda value: value.model_dump())}\n")
