"""Starts the real server of `lightrag-hku`, with the Python of the environment that has it.

Its tokenizer loads a table from the web. Here every byte is a token, so that it starts without a network.
"""

import tiktoken
from lightrag.api.lightrag_server import main
from tiktoken import registry

BYTES = {bytes([byte]): byte for byte in range(256)}

for name in ("o200k_base", "cl100k_base"):
    registry.ENCODINGS[name] = tiktoken.Encoding(
        name, pat_str=r"[\s\S]", mergeable_ranks=BYTES, special_tokens={"<|endoftext|>": 256}
    )

if __name__ == "__main__":
    main()
