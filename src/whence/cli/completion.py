"""`whence completion`: installs tab completion for a shell."""

import os
from pathlib import Path

import click

from whence.errors import SetupError

_FILES = {
    "bash": "~/.local/share/bash-completion/completions/whence",
    "zsh": "~/.zfunc/_whence",
    "fish": "~/.config/fish/completions/whence.fish",
}
_NEXT = {
    "bash": "It works in new shells if the package bash-completion is installed; otherwise source this file in ~/.bashrc.",
    "zsh": "Add `fpath+=~/.zfunc; autoload -Uz compinit; compinit` to ~/.zshrc, once, and open a new shell.",
    "fish": "It works in new shells.",
}


@click.command()
@click.argument("shell", type=click.Choice(tuple(_FILES)), required=False)
@click.option("--print", "shown", is_flag=True, help="Print the script instead of installing it.")
def completion(shell: str | None, *, shown: bool) -> None:
    """Install tab completion for SHELL (bash, zsh or fish), by default for the shell in use."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in _FILES:
        raise click.UsageError(f"Name the shell: {', '.join(_FILES)}")
    script = _render_script(shell)
    if shown:
        click.echo(script)
        return
    path = Path(_FILES[shell]).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as exc:
        raise SetupError(f"Cannot write {path}: {exc.strerror}") from exc
    click.echo(f"Installed {path}. {_NEXT[shell]}")


def _render_script(shell: str) -> str:
    from click.shell_completion import get_completion_class

    from whence.cli import cli

    found = get_completion_class(shell)
    assert found is not None, "click has one for each shell above"
    # Not `source()`, which starts bash to get its version.
    complete = found(cli, {}, "whence", "_WHENCE_COMPLETE")
    return complete.source_template % complete.source_vars()
