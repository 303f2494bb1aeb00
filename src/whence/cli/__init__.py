"""The command line. Heavy imports stay inside commands, so that `--help` is instant."""

import importlib
import sys

import click

from whence import __version__
from whence.cli.command import EXIT_FAILED, add_server_options
from whence.errors import DatabaseUnavailable, SetupError, WhenceError

COMMANDS = {
    "serve": "serve",
    "ingest": "ingest",
    "import": "transfer",
    "export": "transfer",
    "documents": "documents",
    "jobs": "jobs",
    "search": "search",
    "ask": "ask",
    "answers": "answers",
    "eval": "eval",
    "extract": "extract",
    "schema": "schema",
    "objects": "objects",
    "trace": "trace",
    "mcp": "mcp",
    "worker": "serve",
    "reembed": "reembed",
    "chunk": "chunk",
    "projects": "projects",
    "keys": "keys",
    "audit": "audit",
    "db": "db",
    "backup": "db",
    "restore": "db",
    "storage": "storage",
    "doctor": "doctor",
    "completion": "completion",
}
"""Commands, each with its module in this folder."""

_KEYWORDS = {"import": "import_"}
"""Commands whose name Python reserves, each with the name of its function."""

EXIT_SETUP = 3
EXIT_INTERRUPTED = 130


class _Commands(click.Group):
    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(
            importlib.import_module(f"whence.cli.{COMMANDS[name]}"), _KEYWORDS.get(name, name)
        )
        add_server_options(command)
        return command


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="whence")
@click.option("--config", metavar="FILE", help="Read settings from this TOML file.")
def cli(config: str | None) -> None:
    """A knowledge-base server that shows where every answer came from.

    Settings come from WHENCE_* variables and a config file; `whence doctor` lists them.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 cannot start (settings, database or storage),
    130 interrupted, 143 terminated.
    """
    from whence.config_file import use_config

    use_config(config)


def main() -> None:
    try:
        code = cli.main(standalone_mode=False)  # the code of an `Exit`; commands themselves return nothing
    except click.Abort as exc:  # click raises this for Ctrl-C, too
        click.echo("Aborted.", err=True)
        sys.exit(EXIT_INTERRUPTED if isinstance(exc.__cause__, KeyboardInterrupt) else EXIT_FAILED)
    except click.UsageError as exc:  # `show` also prints the usage
        exc.show()
        sys.exit(exc.exit_code)
    except click.ClickException as exc:
        _print_error(exc.format_message())
        sys.exit(exc.exit_code)
    except WhenceError as exc:
        _print_error(exc.message)
        sys.exit(EXIT_SETUP if isinstance(exc, SetupError | DatabaseUnavailable) else EXIT_FAILED)
    sys.exit(code)


def _print_error(message: str) -> None:
    click.secho(f"whence: {message}", err=True, fg="red")
