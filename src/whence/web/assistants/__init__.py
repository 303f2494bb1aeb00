"""The Model Context Protocol: tools, resources and a prompt for assistants, with the same keys and projects as the HTTP API.

tools      the tools, the resources and the prompt
shapes     what the tools answer
schemas    shorter JSON schemas for the list of tools
endpoint   how they are served over HTTP; `whence mcp` serves them over standard input and output

Needs the extra `whence-kb[mcp]`.
"""
