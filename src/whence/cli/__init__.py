"""The command line: one file per command; heavy imports stay inside commands."""


def main() -> None:
    raise SystemExit("whence: no command yet")
