"""`make sbom`: the bill of materials of what `requirements/run.txt` pins, in CycloneDX's form, with licences.

Names, versions and hashes come from the pinned requirements, licences from the installed packages.
"""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)([^\n]*(?:\n    [^\n]*)*)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
CLASSIFIER = "License :: OSI Approved :: "


def bill(pinned: str) -> dict[str, Any]:
    """The document for the text of a requirements file."""
    components = [_component(*found.groups()) for found in PINNED.finditer(pinned)]
    root = {"type": "application", "bom-ref": "whence", "name": "whence", "licenses": _licences("whence")}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": components,
    }


def _component(name: str, version: str, rest: str) -> dict[str, Any]:
    reference = f"pkg:pypi/{name.lower()}@{version}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": version,
        "purl": reference,
        "licenses": _licences(name),
        # A package has one hash for each of its files: those are of its distributions.
        "externalReferences": [
            {
                "type": "distribution",
                "url": reference,
                "hashes": [{"alg": "SHA-256", "content": one} for one in HASH.findall(rest)],
            }
        ],
    }


def _licences(name: str) -> list[dict[str, Any]]:
    """As the package says: an SPDX expression, else its classifiers, else the name of its licence; empty if not installed."""
    try:
        said = metadata(name)
    except PackageNotFoundError:  # for another platform
        return []
    if expressions := said.get_all("License-Expression"):
        return [{"expression": expressions[0]}]
    classified = [one for one in said.get_all("Classifier") or () if one.startswith(CLASSIFIER)]
    names = [one.removeprefix(CLASSIFIER) for one in classified]
    if not names:
        names = [text.strip().splitlines()[0] for text in said.get_all("License") or () if text.strip()]
    return [{"license": {"name": one}} for one in names]


def main() -> None:
    target = Path(sys.argv[1])
    made = bill((ROOT / "requirements" / "run.txt").read_text())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(made, indent=2) + "\n")
    for one in made["components"]:
        licences = ", ".join(each.get("expression") or each["license"]["name"] for each in one["licenses"])
        print(f"{one['name']} {one['version']}: {licences or 'not installed here'}")  # noqa: T201 - the list is its output


if __name__ == "__main__":
    main()
