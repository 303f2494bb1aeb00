"""The bill of materials lists every pinned package, with its licence."""

import re
from pathlib import Path

from tools.sbom import bill

PINS = Path(__file__).parents[2] / "requirements" / "run.txt"


def test_every_pinned_package_is_in_it() -> None:
    pins = PINS.read_text()
    made = bill(pins)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    listed = {(one["name"], one["version"]) for one in made["components"]}
    assert listed == set(re.findall(r"^([\w.-]+)(?:\[.*?\])?==([^\s;]+)", pins, re.MULTILINE))
    references = [one["bom-ref"] for one in made["components"]]
    assert len(references) == len(set(references))
    assert all(one["externalReferences"][0]["hashes"] for one in made["components"])
    nameless = [one["name"] for one in made["components"] if not one["licenses"]]
    assert len(nameless) < 5, nameless  # packages of other platforms are not installed
