"""Which files a command line means, in real folders, against git's own opinion where there is one."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whence.cli.files import FoundFile, Selection, Skipped, find
from whence.errors import InvalidParameter

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Makes files, with folders as needed; a text after `=` is their content."""

    def make(*files: str) -> Path:
        for file in files:
            name, _, content = file.partition("=")
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return tmp_path

    return make


def names(*paths: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    selection = Selection(paths=paths, include=include, exclude=exclude)
    items = list(find(selection))
    assert all(isinstance(item, FoundFile) for item in items), items
    return [item.name for item in items if isinstance(item, FoundFile)]


def skipped(*paths: Path) -> dict[str, str]:
    return {item.path.name: item.reason for item in find(Selection(paths=paths)) if isinstance(item, Skipped)}


class TestFolders:
    def test_sorted_and_named_from_the_folder(self, tree: Tree) -> None:
        root = tree("b.md", "a/z.md", "a/B.md", "c/d/e.txt", "a.md")
        assert names(root) == ["a/B.md", "a/z.md", "a.md", "b.md", "c/d/e.txt"]
        assert names(root / "c") == ["d/e.txt"]
        assert [item.path for item in find(Selection(paths=[root / "c"]))] == [root / "c/d/e.txt"]

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        assert names(tmp_path) == []

    def test_in_the_order_given_and_each_file_once(self, tree: Tree) -> None:
        root = tree("b/x.md", "a/y.md")
        assert names(root / "b", root / "a/y.md", root) == ["x.md", "y.md"]
        assert names(root / "b/x.md", root / "b/x.md") == ["x.md"]

    def test_hidden(self, tree: Tree) -> None:
        root = tree(".hidden", ".git/config", ".folder/x.md", "a/.b", "c.md")
        assert names(root) == ["c.md"]
        assert names(root / ".hidden", root / ".folder") == [".hidden", "x.md"]

    def test_relative(self, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tree("docs/a.md", ".b.md"))
        assert names(Path("docs"), Path(".b.md")) == ["a.md", ".b.md"]
        assert names(Path()) == ["docs/a.md"]

    def test_names_that_are_not_utf8(self, tmp_path: Path) -> None:
        try:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).touch()
        except OSError:
            pytest.skip("this file system has only names in UTF-8")
        assert names(tmp_path) == ["caf\ufffd.txt"]


class TestPatterns:
    def test_include(self, tree: Tree) -> None:
        root = tree("a.md", "a.txt", "docs/b.md", "docs/c.pdf", "src/d.md")
        assert names(root, include=("*.md",)) == ["a.md", "docs/b.md", "src/d.md"]
        assert names(root, include=("*.md", "*.pdf")) == ["a.md", "docs/b.md", "docs/c.pdf", "src/d.md"]
        assert names(root, include=("/docs/*.md",)) == ["docs/b.md"]
        assert names(root, include=("docs/",)) == ["docs/b.md", "docs/c.pdf"]
        assert names(root, include=("docs", "!*.pdf")) == ["docs/b.md"]
        assert names(root / "a.txt", root / "a.md", include=("*.md",)) == ["a.md"]

    def test_exclude(self, tree: Tree) -> None:
        root = tree("a.md", "a.log", "keep.log", "build/b.md", "src/build/c.md")
        assert names(root, exclude=("*.log", "!keep.log")) == [
            "a.md",
            "build/b.md",
            "keep.log",
            "src/build/c.md",
        ]
        assert names(root, exclude=("build/", "*.log")) == ["a.md"]
        assert names(root, exclude=("/build",), include=("*.md",)) == ["a.md", "src/build/c.md"]
        assert names(root / "a.log", root / "a.md", exclude=("*.log",)) == ["a.md"]

    def test_no_pattern(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidParameter, match=r"include must be patterns as in \.gitignore"):
            names(tmp_path, include=("*.md", "!"))
        with pytest.raises(InvalidParameter, match=r"exclude must be patterns as in \.gitignore"):
            names(tmp_path, exclude=("!",))


class TestIgnoreFiles:
    def test_nested_and_taken_back(self, tree: Tree) -> None:
        root = tree(
            ".gitignore=*.log\n/build/\n# a comment\n\n!\n", "a.md", "a.log", "build/x.md", "sub/build/y.md",
            "sub/.gitignore=!keep.log\n*.md\n!y.md\n", "sub/keep.log", "sub/b.log", "sub/b.md",
        )  # fmt: skip
        assert names(root) == ["a.md", "sub/build/y.md", "sub/keep.log"]

    def test_what_is_in_an_ignored_folder_stays_ignored(self, tree: Tree) -> None:
        root = tree(
            ".gitignore=build/\n!build/keep.md\n", "build/keep.md", "build/.gitignore=!keep.md", "a.md"
        )
        assert names(root) == ["a.md"]

    def test_whenceignore_goes_before_gitignore(self, tree: Tree) -> None:
        root = tree(
            ".gitignore=build/\n*.pdf\n", ".whenceignore=!build/\n*.md\n", "build/a.txt", "b.md", "c.pdf"
        )
        assert names(root) == ["build/a.txt"]

    def test_a_file_that_is_given_is_taken(self, tree: Tree) -> None:
        root = tree(".gitignore=*.log\n", "a.log")
        assert names(root / "a.log") == ["a.log"]

    def test_windows_lines_and_a_mark_at_the_start(self, tree: Tree) -> None:
        assert names(tree(".gitignore=\ufeff*.log\r\n*.tmp\r\n", "a.log", "b.tmp", "c.md")) == ["c.md"]

    def test_one_that_cannot_be_read(self, tree: Tree) -> None:
        """Then nobody knows what may be taken, so nothing is."""
        root = tree("a/b.md", "c.md")
        (root / "a/.gitignore").mkdir()
        assert [item.path.name for item in find(Selection(paths=[root]))] == ["a", "c.md"]
        assert skipped(root) == {"a": "Is a directory"}


class TestSkipped:
    def test_nothing_there(self, tmp_path: Path) -> None:
        assert skipped(tmp_path / "nothing") == {"nothing": "not found"}

    def test_a_broken_link(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("nowhere")
        assert skipped(tmp_path) == {"link": "not found"}

    def test_a_link_to_itself(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("link")
        assert list(skipped(tmp_path)) == ["link"]

    def test_a_circle(self, tree: Tree) -> None:
        root = tree("a/b/c.md")
        (root / "a/b/again").symlink_to(root)
        (root / "a/b/near").symlink_to("..")
        assert names(root) == ["a/b/c.md"]

    def test_links_are_followed(self, tree: Tree) -> None:
        root = tree("docs/a.md", "elsewhere/b.md", "elsewhere/c.md")
        (root / "docs/link.md").symlink_to(root / "elsewhere/b.md")
        (root / "docs/folder").symlink_to(root / "elsewhere")
        assert names(root / "docs") == ["a.md", "folder/b.md", "folder/c.md"]

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert skipped(tmp_path) == {"pipe": "not a file"}

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_may_not_be_read(self, tree: Tree) -> None:
        root = tree("a.md", "b/c.md", "d.md")
        (root / "a.md").chmod(0)
        (root / "b").chmod(0)
        try:
            assert skipped(root) == {"a.md": "may not be read", "b": "may not be read"}
        finally:
            (root / "b").chmod(0o700)


PATTERNS = st.sampled_from(
    [
        "*", "*.log", "!*.md", "a/", "!a/", "/a", "!/a/b", "a/*", "!a/keep.log",
        "**/b", "b/**", "!*/", "build", "!build/", "a/b/", "!a/b/x.md", "*.md", "!keep.log",
        "/a/*", "!/a/b/", "build/", "a/**/x.md", "a/**", "b/**/", "**/", "**/a/", "a/**/b",
        "!a/**", "!**/build/", "/*", "!/a", "**", "a/*/", "!/*/", "x.m?", "[ab]",
        "[!a]", "\\!x", "build/a",
    ]
)  # fmt: skip
FOLDERS = st.sampled_from(["", "a/", "build/a/"])


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there to be asked")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ignores=st.dictionaries(FOLDERS, st.lists(PATTERNS, min_size=1, max_size=4), min_size=1))
def test_git_says_the_same(ignores: dict[str, list[str]], tree: Tree) -> None:
    folders = [
        "",
        *(f"{a}/" for a in ("a", "b", "build")),
        *(f"{a}/{b}/" for a in "ab" for b in ("a", "b", "build")),
    ]
    files = [folder + name for folder in [*folders, "build/a/"] for name in ("x.md", "y.log", "keep.log")]
    root = tree(*files)
    for old in root.rglob(".gitignore"):
        old.unlink()
    tree(*(f"{folder}.gitignore={chr(10).join(lines)}" for folder, lines in ignores.items()))
    git = ["git", "-c", "core.excludesFile=", "-C", str(root)]
    if not (root / ".git").exists():
        subprocess.run([*git, "init", "--quiet"], check=True)
    said = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    expected = [name for name in said.stdout.splitlines() if not name.endswith(".gitignore")]
    assert sorted(names(root)) == sorted(expected)
