"""Distributions as an installer leaves them behind."""

import textwrap
from pathlib import Path


def offer_strategy(site: Path, *, name: str, value: str, source: str) -> None:
    """A module and its dist-info, with an entry point for a chunking strategy."""
    offer_entry_point(site, group="whence.chunking", name=name, value=value, source=source)


def offer_entry_point(site: Path, *, group: str, name: str, value: str, source: str) -> None:
    module = value.partition(":")[0]
    (site / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n", encoding="utf-8")
