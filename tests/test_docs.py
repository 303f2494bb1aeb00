"""The documentation and the code say the same: nothing is undocumented, nothing documented is missing."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from tests.openapi import document
from tools import http_reference

from whence.cli import cli
from whence.errors import WhenceError
from whence.settings import PREFIX, describe

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
_ROUTE_HEADING = re.compile(r"^#{1,6}\s+`([A-Z]+) (/\S*)`$", re.MULTILINE)
_PATH_MENTION = re.compile(r"/api/v1/[\w{}/.-]*")
_VARIABLE = re.compile(rf"{PREFIX}[A-Z_]+")
_CODE_WORD = re.compile(r"`([A-Z]+(?:_[A-Z]+)+)`")
_CODE_ROW = re.compile(r"^\| `([A-Z_]+)` \| (\d{3}) \|", re.MULTILINE)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next of the same depth or less."""
    depth = len(heading) - len(heading.lstrip("#"))
    body = text.partition(f"\n{heading}\n")[2]
    return re.split(rf"^#{{1,{depth}}}\s", body, maxsplit=1, flags=re.MULTILINE)[0]


def error_classes(base: type[WhenceError] = WhenceError) -> Iterator[type[WhenceError]]:
    yield base
    for child in base.__subclasses__():
        if child.__module__ == WhenceError.__module__:
            yield from error_classes(child)


def commands(group: click.Group, name: str = "whence") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for child in group.list_commands(context):
        command = group.get_command(context, child)
        assert command is not None
        yield f"{name} {child}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {child}")


@cache
def routes() -> dict[tuple[str, str], list[str]]:
    """Method and path to the names of the parameters."""
    paths = document()["paths"]
    return {
        (method.upper(), path): [parameter["name"] for parameter in operation.get("parameters", ())]
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


def anchors(text: str) -> set[str]:
    """The anchors that the usual renderers give to the headings of a page."""
    found: dict[str, int] = {}
    for title in _HEADING.findall(_FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {slug if n == 0 else f"{slug}-{n}" for slug, last in found.items() for n in range(last + 1)}


def links(page: Path) -> list[str]:
    text = _CODE.sub("", _FENCE.sub("", read(page)))
    return [link for link in _LINK.findall(text) if not re.match(r"[a-z][a-z0-9+.-]*:", link)]


def targets() -> dict[str, bool]:
    """The targets that somebody may make, and whether each is described."""
    makefile = read(ROOT / "Makefile")
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY:"))
    described = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))
    named = set(phony.split()[1:]) | set(re.findall(r"^([a-z-]+):(?!=)", makefile, re.MULTILINE))
    return {name: name in described for name in named}


def test_every_setting_is_in_the_table() -> None:
    rows = re.findall(rf"^\| `({PREFIX}[A-Z_]+)` \| ([^|]*) \|", read(DOCS / "settings.md"), re.MULTILINE)
    assert [name for name, _ in rows] == [info.name for info in describe()]
    defaults = dict(rows)
    for info in describe():
        assert not info.default or defaults[info.name] == f"`{info.default}`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_variables_that_are_mentioned_exist(page: Path) -> None:
    assert set(_VARIABLE.findall(read(page))) <= {info.name for info in describe()}


def test_every_route_has_a_section() -> None:
    assert sorted(_ROUTE_HEADING.findall(read(DOCS / "http.md"))) == sorted(routes())


def test_every_parameter_of_a_route_is_in_its_section() -> None:
    text = read(DOCS / "http.md")
    for (method, path), parameters in routes().items():
        described = section(text, f"### `{method} {path}`").partition("\nErrors:")[0]
        assert not [name for name in parameters if f"`{name}`" not in described], f"{method} {path}"


def test_the_http_reference_is_up_to_date() -> None:
    assert read(DOCS / "http.md") == http_reference.render(), "write it with `make http-docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_routes_that_are_mentioned_exist(page: Path) -> None:
    known = {path for _, path in routes()}
    # A parameter stands there by its name or as an id; anything else would let a wrong word pass for one.
    patterns = [re.sub(r"\{\w+\}", lambda _: r"(\{\w+\}|[0-9a-f-]{36})", path) for path in known]
    for mention in _PATH_MENTION.findall(read(page)):
        path = mention.rstrip("/.")
        assert path == "/api/v1" or any(re.fullmatch(pattern, path) for pattern in patterns), mention


def test_every_error_code_is_in_the_table_with_its_status() -> None:
    documented = {code: int(status) for code, status in _CODE_ROW.findall(read(DOCS / "api.md"))}
    assert documented == {error.code: error.status for error in error_classes()}


OTHERS = ("AWS_", "AZURE_", "GOOGLE_")
"""How variables begin that are not ours."""


def test_codes_that_are_mentioned_exist() -> None:
    codes = {error.code for error in error_classes()}
    for name in ("README.md", "docs/api.md", "docs/http.md", "docs/cli.md", "docs/operations.md"):
        words = _CODE_WORD.findall(read(ROOT / name))
        mentioned = {word for word in words if not word.startswith((PREFIX, *OTHERS))}
        assert mentioned <= codes, name


def test_every_command_has_a_section_with_its_options() -> None:
    text = read(DOCS / "cli.md")
    headings = set(re.findall(r"^#{2,4} `(whence [a-z -]+)`$", text, re.MULTILINE))
    found = dict(commands(cli))
    assert headings == set(found)
    everywhere = section(text, "## A server elsewhere")
    for name, command in found.items():
        depth = "#" * len(name.split())
        described = section(text, f"{depth} `{name}`")
        # What all commands of a group share is said once, above them.
        above = section(text, f"## `{' '.join(name.split()[:2])}`").partition("\n### ")[0]
        above += everywhere
        for option in command.params:
            if isinstance(option, click.Option):
                assert all(re.search(rf"{flag}\b", described + above) for flag in option.opts), (
                    f"{name} {option.opts}"
                )
            else:
                assert (option.name or "").upper() in described, f"{name} {option.name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    groups = {name for name, command in commands(cli) if isinstance(command, click.Group)}
    known = {name for name, _ in commands(cli)}
    for line in re.findall(r"(?:^\$ |`)(whence(?: [a-z]+)+)", read(page), re.MULTILINE):
        words = line.split()
        name = " ".join(words[:2])
        assert name in known, line
        assert name not in groups or len(words) == len(name.split()) or " ".join(words[:3]) in known, line


def test_options_that_are_mentioned_exist() -> None:
    known = {"--help", "--version", "--config"} | {
        flag for _, command in commands(cli) for p in command.params for flag in p.opts
    }
    text = read(DOCS / "cli.md")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known


def test_exit_codes_are_documented() -> None:
    table = section(read(DOCS / "cli.md"), "## Exit codes")
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "130", "143"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_json_is_json(page: Path) -> None:
    for block in re.findall(r"^```json\n(.*?)^```", read(page), re.MULTILINE | re.DOTALL):
        json.loads(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(read(target)), f"{link}: no such heading"


def test_the_site_has_every_page_and_links_only_to_its_own() -> None:
    listed = read(ROOT / "zensical.toml")
    for page in DOCS.rglob("*.md"):
        assert f'"{page.relative_to(DOCS)}"' in listed
        outside = [link for link in links(page) if not (page.parent / link).resolve().is_relative_to(DOCS)]
        assert not outside, f"{page.name}: {outside}; the site cannot follow them"


def test_benchmarks_that_are_mentioned_exist() -> None:
    for name in re.findall(r"python -m benchmarks\.(\w+)", " ".join(map(read, PAGES))):
        assert (ROOT / "benchmarks" / f"{name}.py").exists(), name


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, coming = set(), [ROOT / "README.md"]
    while coming:
        page = coming.pop()
        if page in reached or not page.exists():
            continue
        reached.add(page)
        pages = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
        coming += [target for target in pages if target.suffix == ".md"]
    assert set(PAGES) <= reached


def test_every_page_says_its_limits() -> None:
    lists = {"README.md", "glossary.md", "http.md"}
    for page in DOCS.glob("*.md"):
        assert page.name in lists or "\n## Limits\n" in read(page), page


def test_every_dependency_is_justified() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [name for extra in project["project"]["optional-dependencies"].values() for name in extra]
    wanted += re.findall(r"^[a-z].*", read(ROOT / "requirements" / "build.in"), re.MULTILINE)
    names = {re.split(r"[\[<>=~!; ]", requirement, maxsplit=1)[0] for requirement in wanted}
    rows = re.findall(
        r"^\| `([\w-]+)`[^|]*\|(.*)\|(.*)\|(.*)\|$", read(DOCS / "dependencies.md"), re.MULTILINE
    )
    assert names | {"uv"} == {name for name, *_ in rows}
    assert all(cell.strip() for _, *cells in rows for cell in cells)


def test_make_targets_that_are_mentioned_exist() -> None:
    for page in PAGES:
        mentioned = re.findall(r"(?:^\$ |`)make ([a-z-]+)", read(page), re.MULTILINE)
        assert set(mentioned) <= set(targets()), page.name


def test_the_readme_shows_the_two_commands() -> None:
    shown = re.findall(r"^\$ make ([a-z-]+)", read(ROOT / "README.md"), re.MULTILINE)
    assert shown[:2] == ["run", "test"]


def test_make_lists_every_target() -> None:
    assert all(targets().values()), targets()
    listed = subprocess.run(
        ["make", "-C", str(ROOT), "--no-print-directory"], check=True, capture_output=True, text=True
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", listed.stdout)
    assert {line.split()[0] for line in plain.splitlines()} == set(targets())
    assert all(len(line.split()) > 1 for line in plain.splitlines())


def test_the_docs_name_no_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/root/|/work/|/opt/|/tmp/", read(page)), page.name
