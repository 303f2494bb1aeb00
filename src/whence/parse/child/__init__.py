"""The child process that reads documents with foreign code. The server never imports it."""
