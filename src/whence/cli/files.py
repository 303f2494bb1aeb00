"""Finds the files for the paths of a command line: walks folders, honours ignore files, in a fixed order.

Ignore files give the same results as with git. `GitIgnoreSpec` decides whether a file or a folder above it is ignored. That does
not suffice across several ignore files, because one may re-include a folder that another ignores. So each entry is checked on its
own on the way down, and pathspec only translates the patterns.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whence.errors import InvalidParameter

if TYPE_CHECKING:  # imported only if there is a pattern
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_FILES = (".gitignore", ".whenceignore")
"""The second takes precedence over the first."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of one origin, in order; the last one that matches an entry decides."""

    _patterns: "tuple[tuple[str, GitIgnoreSpecPattern], ...]"

    @classmethod
    def of(cls, lines: Iterable[str], *, strict: bool = True) -> "Patterns":
        """Raises `ValueError` for a pattern that git would not accept. If not `strict`, skips it as git does."""
        found: list[tuple[str, GitIgnoreSpecPattern]] = []
        for line in lines:
            with nullcontext() if strict else suppress(ValueError):
                found += _compile(line.removesuffix("\r"))
        return cls(tuple(found))

    def decide(self, entry: str) -> bool | None:
        """True for a match, False for a match with `!`, None for none. `entry` is relative; a folder ends in a slash."""
        return next((p.include for text, p in reversed(self._patterns) if _matches(text, p, entry)), None)


def _compile(line: str) -> "list[tuple[str, GitIgnoreSpecPattern]]":
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    pattern = GitIgnoreSpecPattern(line)
    blank = pattern.include is None  # an empty line or a comment
    return [] if blank else [(line.rstrip().removeprefix("!"), pattern)]


def _matches(text: str, pattern: "GitIgnoreSpecPattern", entry: str) -> bool:
    """Whether the pattern matches this entry itself, not only a folder above it."""
    bare = entry.rstrip("/")
    if text.endswith(("/**", "/**/")) and text.strip("*/"):
        # Matches the content of a folder, but not the folder itself, which pathspec would match.
        return pattern.match_file(bare) is not None and (text.endswith("**") or entry != bare)
    if "/" not in text.rstrip("/"):
        return pattern.match_file(entry[bare.rfind("/") + 1 :]) is not None
    found = pattern.match_file(entry)
    return found is not None and found.match.end() == len(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    path: Path
    name: str
    """Path relative to the given folder, with slashes. The file name if the file itself was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A selected path that cannot be read. Paths that patterns leave out are not reported."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selects files.

    Takes everything in the folders among `paths`, except hidden and ignored entries.
    A file given by its own path is taken even if it is hidden or ignored. `include` and `exclude` apply to both:
    patterns as in `.gitignore`, relative to the given folder.
    """

    paths: Sequence[Path]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()


def find(selection: Selection) -> Iterator[FoundFile | Skipped]:
    """Each file once, even if several paths lead to it; sorted by name within a folder."""
    walk = _Walk(
        include=_read_patterns("include", selection.include),
        exclude=_read_patterns("exclude", selection.exclude),
    )
    for path in selection.paths:
        if _is_folder(path):
            yield from walk.folder(path, "", ())
        elif walk.wants(path.name):
            yield from walk.file(path, path.name)


def _read_patterns(parameter: str, lines: Sequence[str]) -> Patterns:
    try:
        return Patterns.of(lines)
    except ValueError as exc:
        expected = "patterns as in .gitignore"
        raise InvalidParameter.of(parameter, provided=list(lines), expected=expected) from exc


_Ignores = tuple[tuple[str, Patterns], ...]
"""The patterns of ignore files from the top folder down, each with the name of its folder."""


@dataclass(slots=True, kw_only=True)
class _Walk:
    include: Patterns
    exclude: Patterns
    # By device and inode: links may lead to the same place twice, or in a circle.
    _folders: set[tuple[int, int]] = field(default_factory=set)
    _files: set[tuple[int, int]] = field(default_factory=set)

    def folder(self, path: Path, name: str, ignores: _Ignores) -> Iterator[FoundFile | Skipped]:
        try:
            identity = _identify(path.stat())
            if identity in self._folders:
                return
            self._folders.add(identity)
            with os.scandir(path) as entries:
                # Real entries before links, so that a linked file keeps its own name.
                ordered = sorted(entries, key=lambda entry: (entry.is_symlink(), entry.name))
            ignores = (*ignores, (name, _read_ignores(path)))
        except OSError as exc:
            yield Skipped(path=path, reason=_explain(exc))
            return
        for entry in ordered:
            yield from self._visit(entry, name + replace_bad_bytes(entry.name), ignores)

    def file(self, path: Path, name: str) -> Iterator[FoundFile | Skipped]:
        try:
            status = path.stat()
        except OSError as exc:
            yield Skipped(path=path, reason=_explain(exc))
            return
        if not stat.S_ISREG(status.st_mode):
            yield Skipped(path=path, reason="not a file")
        elif not os.access(path, os.R_OK):
            yield Skipped(path=path, reason="may not be read")
        elif _identify(status) not in self._files:
            self._files.add(_identify(status))
            yield FoundFile(path=path, name=replace_bad_bytes(name))

    def wants(self, name: str) -> bool:
        """Whether the file, or a folder above it, is included and the file is not excluded."""
        if self.exclude.decide(name):
            return False
        included = [self.include.decide(part) for part in _list_with_folders(name)]
        return self.include == _ALL or next((said for said in included if said is not None), False)

    def _visit(self, entry: os.DirEntry[str], name: str, ignores: _Ignores) -> Iterator[FoundFile | Skipped]:
        if entry.name.startswith("."):
            return
        path = Path(entry.path)
        if _is_folder(path):
            if not self.exclude.decide(f"{name}/") and not _is_ignored(f"{name}/", ignores):
                yield from self.folder(path, f"{name}/", ignores)
        elif self.wants(name) and not _is_ignored(name, ignores):
            yield from self.file(path, name)


_ALL = Patterns(())


def _is_ignored(name: str, ignores: _Ignores) -> bool:
    """The nearest ignore file with a matching pattern decides."""
    said = (patterns.decide(name.removeprefix(folder)) for folder, patterns in reversed(ignores))
    return next((decision for decision in said if decision is not None), False)


def _read_ignores(folder: Path) -> Patterns:
    """Raises OSError if an ignore file cannot be read, as it might leave out any file."""
    texts = []
    for name in IGNORE_FILES:
        try:
            texts.append((folder / name).read_text(encoding="utf-8-sig", errors="surrogateescape"))
        except FileNotFoundError:
            continue
    return Patterns.of("\n".join(texts).split("\n"), strict=False) if texts else _ALL


def _list_with_folders(name: str) -> list[str]:
    """The name, then the folders above it, the nearest first."""
    parts = name.split("/")
    return [name, *("/".join(parts[:end]) + "/" for end in range(len(parts) - 1, 0, -1))]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # opening it will show the reason
        return False


def _identify(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def replace_bad_bytes(name: str) -> str:
    """Makes a name that is not UTF-8 fit for JSON."""
    return os.fsencode(name).decode("utf-8", "replace")


def plain_path(path: Path) -> Path:
    """The path without `..`, so that a file has one path in every current folder."""
    if ".." not in path.parts:
        return path
    plain = Path(os.path.normpath(path.absolute()))
    # Behind a link, `..` leads elsewhere.
    return plain if plain.exists() and plain.samefile(path) else path.resolve()


def _explain(exc: OSError) -> str:
    return {
        FileNotFoundError: "not found",
        PermissionError: "may not be read",
        NotADirectoryError: "not found",
    }.get(type(exc), exc.strerror or "cannot be read")
