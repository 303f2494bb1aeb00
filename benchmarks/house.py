"""Measure the source tree: size, repeated names, hand-made language rules, suppressed checks, words of the docs.

python -m benchmarks.house                 the working tree
python -m benchmarks.house --against REV   the same figures of a commit beside it
"""

import argparse
import ast
import re
import statistics
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = {"http.md"}
"""Pages that a script writes, so nobody has to."""

# Packages and modules whose code decides what words mean.
_NOW = (
    "chat",
    "matching",
    "offline",
    "text",
    *(f"search/{name}.py" for name in ("query", "query_text", "background", "relevance_threshold")),
)
# Where older commits have the same rules, for `--against`.
_FORMERLY = (
    "names",
    "extract/rules",
    *(f"search/{name}.py" for name in ("asks", "floor", "gist", "lexer", "light", "stopwords", "unspaced")),
)
LANGUAGE = _NOW + _FORMERLY
_REGEX_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


@dataclass(frozen=True)
class Module:
    path: str
    """Relative to `src/whence`."""
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def is_language(self) -> bool:
        return any(self.path == place or self.path.startswith(place + "/") for place in LANGUAGE)

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


@dataclass(frozen=True)
class House:
    modules: Sequence[Module]
    docs_words: int

    @classmethod
    def of(cls, root: Path) -> "House":
        source = root / "src" / "whence"
        modules = [
            Module(path.relative_to(source).as_posix(), path.read_text("utf-8"))
            for path in sorted(source.rglob("*.py"))
        ]
        pages = [page for page in (root / "docs").rglob("*.md") if page.name not in GENERATED]
        return cls(modules, sum(len(page.read_text("utf-8").split()) for page in pages))

    @property
    def language(self) -> list[Module]:
        return [module for module in self.modules if module.is_language]


def count_lines(house: House) -> int:
    return sum(module.lines for module in house.modules)


def count_language_lines(house: House) -> int:
    return sum(module.lines for module in house.language)


def count_regex_calls(house: House) -> int:
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _REGEX_CALLS
        for module in house.modules
        for node in ast.walk(module.tree)
    )


def count_tuned_numbers(house: House) -> int:
    """Float literals in language rules, without 0.0 and 1.0."""
    return sum(
        isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value not in (0.0, 1.0)
        for module in house.language
        for node in ast.walk(module.tree)
    )


def count_routes(house: House) -> int:
    return sum(1 for _ in _routes(house))


def count_bare_routes(house: House) -> int:
    """Route functions that take a `Request`, outside of the hot chunk routes."""
    return sum(
        any(ast.unparse(arg.annotation) == "Request" for arg in route.args.args if arg.annotation)
        for module, route in _routes(house)
        if not module.path.endswith("routes/chunks.py")
    )


def _routes(house: House) -> Iterator[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in house.modules:
        if "web/routes" in module.path:
            for function in module.functions():
                if any(_is_route(decorator) for decorator in function.decorator_list):
                    yield module, function


def _is_route(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr in {"get", "post", "put", "patch", "delete", "api_route"}
    )


def repeated_classes(house: House) -> dict[str, int]:
    """Names of public classes that more than one module declares."""
    names = Counter(
        node.name
        for module in house.modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in names.items() if count > 1}


def count_suppressed(house: House) -> int:
    return sum(len(re.findall(r"# noqa\b", module.text)) for module in house.modules)


def count_long_files(house: House) -> int:
    return sum(module.lines > 400 for module in house.modules)


def count_long_functions(house: House) -> int:
    return sum(length > 50 for length in _lengths(house))


def median_function(house: House) -> float:
    return statistics.median(_lengths(house))


def _lengths(house: House) -> Iterator[int]:
    for module in house.modules:
        for function in module.functions():
            yield (function.end_lineno or function.lineno) - function.lineno + 1


FIGURES: Sequence[tuple[str, Callable[[House], object], str]] = (
    ("files", lambda house: len(house.modules), ""),
    ("lines of source", count_lines, "36000"),
    ("lines of language rules", count_language_lines, "4500"),
    ("regular expressions (re.* calls)", count_regex_calls, ""),
    ("tuned numbers in language rules", count_tuned_numbers, ""),
    ("routes", count_routes, ""),
    ("routes that take a bare Request", count_bare_routes, "0"),
    ("class names declared twice", lambda house: len(repeated_classes(house)), "0"),
    ("noqa", count_suppressed, "30"),
    ("median lines of a function", median_function, ""),
    ("functions over 50 lines", count_long_functions, ""),
    ("files over 400 lines", count_long_files, ""),
    ("words of docs, without the HTTP reference", lambda house: house.docs_words, "25000"),
)


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "tree.tar"
        command = ["git", "archive", "--output", str(archive), revision, "src", "docs"]
        subprocess.run(command, cwd=ROOT, check=True)
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--against", metavar="REV", help="a commit to compare with")
    options = parser.parse_args()
    houses = [House.of(ROOT)]
    if options.against:
        with checked_out(options.against) as tree:
            houses.insert(0, House.of(tree))
    head = [options.against[:12], "now"] if options.against else ["now"]
    print(f"{'':44}" + "".join(f"{name:>14}" for name in [*head, "wanted <="]))
    for what, figure, wanted in FIGURES:
        print(f"{what:44}" + "".join(f"{figure(house)!s:>14}" for house in houses) + f"{wanted:>14}")
    print("declared twice:", ", ".join(sorted(repeated_classes(houses[-1]))) or "none")


if __name__ == "__main__":
    main()
