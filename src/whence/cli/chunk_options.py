"""The options that say how to cut, and what is wrong with them in the words of the command line."""

_OPTIONS = {"maxChunkSize": "--max", "minChunkSize": "--min", "chunkingStrategy": "--strategy"}


def by_option(message: str) -> str:
    """An error of the API's fields, with the options that were typed."""
    for field, option in _OPTIONS.items():
        message = message.replace(field, option)
    return message
