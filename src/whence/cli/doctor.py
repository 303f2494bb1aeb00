"""`whence doctor`: checks the settings, the database and the models."""

import os

import click

from whence.cli import options
from whence.cli.command import EXIT_FAILED
from whence.cli.output import printed_json

_MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "wrong": ("✗", "red")}


@click.command()
@click.option(
    "--deep", is_flag=True, help="Compare database, storage, vectors and text index. Reads every original."
)
@options.json
def doctor(*, deep: bool) -> None:
    """Check settings, services and data. The exit code is 1 if something is wrong."""
    import asyncio

    from whence.cli.examination import examine
    from whence.findings import shown_settings
    from whence.settings import Settings

    settings = Settings.from_environment()
    shown = shown_settings(settings)
    findings = asyncio.run(examine(settings, deep=deep))
    if not printed_json({"settings": shown, "findings": findings}):
        click.secho("Settings", bold=True)
        for name, value in shown.items():
            mark = click.style("set", fg="green") if os.environ.get(name) else "   "
            click.echo(f"  {mark} {name:28} {value}")
        click.secho("Findings", bold=True)
        for finding in findings:
            mark, colour = _MARKS[finding.state]
            click.echo(f"  {click.style(mark, fg=colour)} {finding.what}: {finding.says}")
    if any(finding.state == "wrong" for finding in findings):
        raise click.exceptions.Exit(EXIT_FAILED)
