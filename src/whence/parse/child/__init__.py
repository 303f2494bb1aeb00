"""The process that reads documents with foreign code. Nothing of the server imports it."""
