"""Names of things: comparison, display, and candidates in a text. Pure."""

from whence.text.names.display import display_name
from whence.text.names.keys import fold, identifier_key, name_key
from whence.text.names.mentions import names_in

__all__ = ["display_name", "fold", "identifier_key", "name_key", "names_in"]
