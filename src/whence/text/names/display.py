"""Shows a name without the full stop of the sentence that it ended. Pure."""

import re

_STOPS = ".,; "
# Initials ("J.", "U.S.", "Ph.D.") and these abbreviations keep their own full stop.
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)*[^\W\d_]")
_ABBREVIATED = re.compile(
    r"inc|ltd|co|corp|llc|plc|bros|dept|est|etc|jr|sr|st|dr|mrs?|ms|prof|hon|rev|gen|col|capt|sen|gov|vs|n[or]|vol|fig|eds?"
    r"|ave|blvd|rd|mt|ft|intl|assn|univ|abt|str|bd|ca|bzw|usw",
    re.IGNORECASE,
)


def display_name(name: str) -> str:
    """`OAuth 2.0.` becomes `OAuth 2.0`; `Acme Inc.` stays. The `name_key` does not change."""
    bare = name.rstrip(_STOPS)
    if not bare or bare == name:
        return name
    word = "".join(bare.split()[-1:])
    is_short = _ABBREVIATED.fullmatch(word) or _INITIALS.fullmatch(word)
    return f"{bare}." if name[len(bare)] == "." and is_short else bare
