"""Names of the chunking options on the command line, for error messages."""

_OPTIONS = {"maxChunkSize": "--max", "minChunkSize": "--min", "chunkingStrategy": "--strategy"}


def by_option(message: str) -> str:
    """An API error message, with options in place of fields."""
    for field, option in _OPTIONS.items():
        message = message.replace(field, option)
    return message
