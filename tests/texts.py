"""Texts and options to try chunkers on."""

from hypothesis import strategies as st

from whence.chunk import ChunkingOptions

# Whatever means something to a chunker, so that random texts are full of edge cases.
FRAGMENTS = [
    *" .!?,;:#-=|`~*_>()[]\"'0a",
    *"。！？।؟…«»“”「」《》",
    *["\n", "\n\n", " \n \n", "\r\n", "\r\n\r\n", "\r", "\t", "\u00a0", "\u2028", "\x0c", "\x1c", "\x85"],
    *[
        "```",
        "~~~~",
        "```py\n",
        "\n    ```\n    ",
        "\n- ```\n  ",
        "\n```\n",
        "\n~~~\n",
        "\n# ",
        "\n## A\n",
        "\n###### b ##\n",
        "\n===\n",
        "\n\nOne\nTwo\n==\n",
        "\n---\n",
        "\n| a | b |\n",
    ],
    *["|---|---|", "\n- ", "\n1. ", "\n    ", "---\n", "#", "# ", "##"],
    *[
        "Dr. ",
        "e.g. ",
        "U.S. ",
        "J. R. ",
        "3.14",
        "etc. ",
        "am 3. Oktober ",
        "No. 5 ",
        "https://a.b/c.d?e=f ",
        "x@y.org",
    ],
    *[
        "A sentence ends here. ",
        "Is it so? ",
        "und so weiter. ",
        "word ",
        "verylongword" * 12,
        "はい。",
        "「はい。」と",
        "《你好！世界》",
        " [24]",
        "[3, 4] ",
        "Τι κάνεις; Καλά",
        "Բարեւ: Ինչպես ",
        "A line of some words\n",
        "है। ",
    ],
    *[
        "e\u0301",
        "\u0301",
        " \u0301",
        "👩‍👩‍👧‍👦",
        "👍🏽",
        "🇩🇪",
        "🇫🇷🇩🇪",
        "각",
        "\u1100\u1161",
        "क्षि",
        "\u200d",
        "\ufe0f",
        "กำ",
        "\u0600",
    ],
]


def texts(max_parts: int = 120) -> st.SearchStrategy[str]:
    """All of Unicode, in pieces, mixed with what chunkers look for, some of it many times over."""
    part = st.sampled_from(FRAGMENTS) | st.text(max_size=12)
    repeated = st.builds(lambda piece, times: piece * times, part, st.integers(2, 150))
    mixed = st.lists(part | part | part | repeated, max_size=max_parts).map("".join)
    return st.text(max_size=400) | mixed


@st.composite
def options(draw: st.DrawFn) -> ChunkingOptions:
    size = draw(st.integers(100, 260) | st.integers(100, 10_000))
    return ChunkingOptions(max_chunk_size=size, min_chunk_size=draw(st.integers(10, min(1000, size - 1))))


PROSE = (
    "Dr. Smith met Mr. J. R. Jones at 5 p.m. on Jan. 5. They talked about version 3.14.2 of the report! "
    "Was it ready? Nobody knew... It was at https://example.com/a.b?c=d. \n\n"
) * 40

MARKDOWN = (
    "# Title\n\n## Part one\n\nIntroduction to the part. It is short.\nTable follows:\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\n# no header\nls -l\n\nexit 0\n```\n\n"
    "Setext\n======\n\nMore prose, with a list:\n- one\n- two\n### Deep\nDirectly after a header.\r\n\r\nEnd of it.\n"
) * 12


def article(lines: int, *, word: str = "heron") -> bytes:
    """Paragraphs that are all different, and of different articles if the word is."""
    return "\n\n".join(
        f"Line {n} tells of a {word} that waited for {n} hours in shallow water and then flew off to the north."
        for n in range(lines)
    ).encode()
