"""Writes docs/http.md from the OpenAPI document: `make http-docs`. A test fails where the page is out of date."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from whence.settings import Settings
from whence.web.server import create_app

PAGE = Path(__file__).parent.parent / "docs" / "http.md"
JSON = dict[str, Any]

_HEAD = """# HTTP reference

*Generated from the OpenAPI document by `make http-docs`; do not edit. [The API in general](api.md) describes the envelope,
names, lists, keys and errors. The machine-readable form of this page is `/openapi.json`.*
"""
_TITLES = {
    "chunks": "Chunks",
    "search": "Search",
    "chat": "Chat",
    "openai": "OpenAI's protocol",
    "chunking": "Chunking",
    "ingest": "Ingest",
    "documents": "Documents",
    "jobs": "Jobs",
    "objects": "Objects",
    "provenance": "Provenance",
    "corrections": "Corrections",
    "conversations": "Conversations",
    "evidence": "Evidence",
    "links": "Links",
    "graph": "Graph",
    "extraction": "Extraction",
    "projects": "Projects",
    "keys": "API keys",
    "audit": "Audit log",
    "schemas": "Schemas",
    "health": "Health",
}
_SAMPLES = {
    "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "date-time": "2026-11-15T20:11:45.137317Z",
    "binary": "@file",
}
_EVERYWHERE = ("401", "403", "500", "503")
_WIDTH = 110


@dataclass(frozen=True)
class Reference:
    """Writes the parts of the page; `document` resolves references."""

    document: JSON

    def render(self) -> str:
        parts = [_HEAD, *self._contents(), *self._sections(), *self._shapes()]
        return "\n".join(parts).rstrip() + "\n"

    def _operations(self, tag: str) -> Iterator[tuple[str, str, JSON]]:
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                if operation["tags"] == [tag]:
                    yield method.upper(), path, operation

    def _contents(self) -> Iterator[str]:
        for tag, title in _TITLES.items():
            names = ", ".join(
                f"[`{operation['operationId']}`](#{_anchor(f'{method} {path}')})"
                for method, path, operation in self._operations(tag)
            )
            yield f"- [{title}](#{_anchor(title)}): {names}"
        yield "- [Shapes](#shapes)\n"

    def _sections(self) -> Iterator[str]:
        for tag, title in _TITLES.items():
            yield f"## {title}\n"
            for method, path, operation in self._operations(tag):
                yield from self._operation(method, path, operation)

    def _operation(self, method: str, path: str, operation: JSON) -> Iterator[str]:
        scope = f" Scope `{operation['x-scope']}`." if "x-scope" in operation else ""
        yield f"### `{method} {path}`\n"
        yield f"{operation['summary']}.{scope} Operation `{operation['operationId']}`.\n"
        if text := operation.get("description"):
            yield text + "\n"
        yield from self._parameters(operation.get("parameters", ()))
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            yield from self._body(kind, content["schema"])
        yield from self._answers(operation["responses"])
        yield f"Errors: {self._errors(operation['responses'])}.\n"
        yield from self._example(method, path, operation)

    def _parameters(self, parameters: Any) -> Iterator[str]:
        if not parameters:
            return
        yield "| parameter | in | type | default | |\n|---|---|---|---|---|"
        for one in parameters:
            schema = one["schema"]
            default = "required" if one.get("required") else _default(schema)
            text = _cell(one.get("description", ""))
            yield f"| `{one['name']}` | {one['in']} | {self.kind(schema)} | {default} | {text} |"
        yield ""

    def _body(self, kind: str, schema: JSON) -> Iterator[str]:
        where = "the form" if kind == "multipart/form-data" else "the body"
        yield f"| field of {where} | type | default | |\n|---|---|---|---|"
        for name, one, required in self._fields(self.resolve(schema)):
            default = "required" if required else _default(one)
            kind = self.kind(one).removesuffix(" or null")  # null counts as absent
            yield f"| `{name}` | {kind} | {default} | {_cell(one.get('description', ''))} |"
        yield ""

    def _fields(self, schema: JSON, prefix: str = "") -> Iterator[tuple[str, JSON, bool]]:
        """The fields of a request; those of objects inside it follow with dotted names."""
        for name, one in schema.get("properties", {}).items():
            inner = self.resolve(_without_null(one))
            yield prefix + name, {**inner, **one}, name in schema.get("required", ())
            if inner.get("type") == "array":
                yield from self._fields(self.resolve(inner.get("items", {})), f"{prefix}{name}[].")
            elif inner.get("type") == "object":
                yield from self._fields(inner, f"{prefix}{name}.")

    def _answers(self, responses: JSON) -> Iterator[str]:
        for status, response in responses.items():
            if status.startswith("2"):
                kinds = [self._answer(kind, one) for kind, one in response.get("content", {}).items()]
                about = response.get("description", "").removesuffix("Successful Response")
                yield f"Answer {status}: {' or '.join(filter(None, kinds))}.{' ' + about if about else ''}\n"

    def _answer(self, kind: str, content: JSON) -> str:
        if kind != "application/json":
            return f"`{kind}`"
        schema = self.resolve(content["schema"])
        data = schema.get("properties", {}).get("data") if "success" in schema.get("properties", {}) else None
        return f"`data` is {self.kind(data)}" if data else self.kind(content["schema"])

    def _errors(self, responses: JSON) -> str:
        own = [
            f"{status} {response['description']}"
            for status, response in sorted(responses.items())
            if not status.startswith("2") and status not in _EVERYWHERE
        ]
        return "; ".join([*own, "those of [every route](api.md#errors)"])

    def _example(self, method: str, path: str, operation: JSON) -> Iterator[str]:
        command = (
            f"curl {'' if method == 'GET' else f'-X {method} '}http://127.0.0.1:8420{_sample_path(path)}"
        )
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            sent = self._sample_body(content["application/json"])
            command += f" \\\n    --json '{json.dumps(sent, ensure_ascii=False)}'"
        elif content:
            command += " \\\n    --form file=@handbook.pdf"
        yield f"```console\n$ {command}\n```\n"
        responses = operation["responses"]
        answer = next(responses[status] for status in responses if status.startswith("2"))
        if "application/json" in answer.get("content", {}):
            yield f"```json\n{_pretty(self.sample(answer['content']['application/json']['schema']))}\n```\n"

    def _sample_body(self, content: JSON) -> Any:
        schema = self.resolve(_without_null(content["schema"]))
        examples = content.get("examples") or schema.get("examples")
        if isinstance(examples, list):
            return examples[0]
        return schema.get("example") or self._required_only(schema)

    def _required_only(self, schema: JSON) -> JSON:
        properties = schema.get("properties", {})
        return {name: self.sample(properties[name]) for name in schema.get("required", ())}

    def _shapes(self) -> Iterator[str]:
        yield "## Shapes\n\nThe parts of answers. Each is sent by the routes that link to it.\n"
        for name in sorted(self.answer_names, key=str.lower):
            schema = self.document["components"]["schemas"][name]
            yield f"### {name}\n"
            if text := schema.get("description"):
                yield f"{text}\n"
            yield "| field | type | |\n|---|---|---|"
            for field, one in schema.get("properties", {}).items():
                text = one.get("description", "")
                if field not in schema.get("required", ()) and not text.startswith("Only"):
                    text = f"May be absent. {text}"
                yield f"| `{field}` | {self.kind(one)} | {_cell(text)} |"
            yield ""

    @cached_property
    def answer_names(self) -> set[str]:
        """The components that answers refer to, except the envelopes and lists, which `kind` unfolds."""
        waiting = [
            response
            for methods in self.document["paths"].values()
            for operation in methods.values()
            for status, response in operation["responses"].items()
            if status.startswith("2")
        ]
        found: set[str] = set()
        while waiting:
            for name in _references(waiting.pop()):
                if name not in found:
                    found.add(name)
                    waiting.append(self.document["components"]["schemas"][name])
        return {name for name in found if not name.startswith(("Success_", "Listing_"))}

    def resolve(self, schema: JSON) -> JSON:
        if "$ref" not in schema:
            return schema
        found: JSON = self.document["components"]["schemas"][_name(schema)]
        return found

    def kind(self, schema: JSON) -> str:
        """The type of a value, in words."""
        if "$ref" in schema:
            return self._kind_of_shape(_name(schema))
        if "anyOf" in schema:
            return _kind_of_choice([self.kind(one) for one in schema["anyOf"]])
        if "enum" in schema or "const" in schema:
            return ", ".join(f"`{json.dumps(one)}`" for one in schema.get("enum", [schema.get("const")]))
        if schema.get("type") == "array":
            return f"list of {self.kind(schema['items'])}" if schema.get("items") else "list"
        if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self.kind(schema['additionalProperties'])}"
        return _kind_of_scalar(schema)

    def _kind_of_shape(self, name: str) -> str:
        if not name.startswith("Listing_"):
            # The fields of a request's parts are listed below it; those of answers have a section.
            return f"[{name}](#{_anchor(name)})" if name in self.answer_names else "object"
        items = self.document["components"]["schemas"][name]["properties"]["items"]["items"]
        return f"`items` of {self.kind(items)} and `pagination`"

    def sample(self, schema: JSON) -> Any:
        """A value as an answer may have it, without the fields that may be absent."""
        if schema.get("examples"):
            return schema["examples"][0]
        if "$ref" in schema:
            found = self.resolve(schema)
            needed = found.get("required", ())
            return {name: self.sample(one) for name, one in found["properties"].items() if name in needed}
        if "anyOf" in schema:
            return self.sample(_without_null(schema))
        if schema.get("type") == "array":
            return [self.sample(schema["items"])] if schema.get("items") else []
        if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
            return {"name": self.sample(schema["additionalProperties"])}
        return _sample_scalar(schema)


def _kind_of_choice(kinds: list[str]) -> str:
    if "boolean" in kinds and len(kinds) > 2:  # noqa: PLR2004 - a flag may also come as text or number
        return "flag"
    return " or ".join(dict.fromkeys(kinds))


def _kind_of_scalar(schema: JSON) -> str:
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if schema.get("format"):
        return {"date-time": "time", "binary": "file"}.get(schema["format"], str(schema["format"]))
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind} {low:g} to {high:g}" if high < 2**53 else f"{kind} from {low:g}"
    if kind == "string" and schema.get("maxLength"):
        return f"text of at most {schema['maxLength']} characters"
    return {"string": "text", "null": "null", "any": "any JSON"}.get(kind, str(kind))


def _sample_scalar(schema: JSON) -> Any:
    if schema.get("enum") or "const" in schema:
        return [*schema.get("enum", ()), schema.get("const")][0]
    if schema.get("format") in _SAMPLES:
        return _SAMPLES[schema["format"]]
    if "[0-9a-f]{64}" in schema.get("pattern", ""):
        return "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    return {"string": "…", "integer": 1, "number": 0.5, "boolean": True, "object": {}}.get(
        str(schema.get("type"))
    )


def _without_null(schema: JSON) -> JSON:
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    return choices[0] if choices and "properties" not in schema else schema


def _default(schema: JSON) -> str:
    found = schema.get("default")
    return "" if found is None or found == [] else f"`{json.dumps(found)}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _name(schema: JSON) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _anchor(title: str) -> str:
    kept = "".join(char for char in title.lower() if char.isalnum() or char in "_- ")
    return kept.replace(" ", "-")


def _sample_path(path: str) -> str:
    for name in (
        "project_id",
        "document_id",
        "job_id",
        "chunk_id",
        "object_id",
        "relationship_id",
        "merge_id",
    ):
        path = path.replace(f"{{{name}}}", _SAMPLES["uuid"])
    return path.replace("{model}", "default")


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield _name(value)
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON whose short parts stay on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + 2 * depth <= _WIDTH or not isinstance(value, dict | list):
        return flat
    inner = "  " * (depth + 1)
    if isinstance(value, list):
        lines = [inner + _pretty(one, depth + 1) for one in value]
    else:
        lines = [f"{inner}{json.dumps(key)}: {_pretty(one, depth + 1)}" for key, one in value.items()]
    start, end = ("[", "]") if isinstance(value, list) else ("{", "}")
    return "\n".join([start, ",\n".join(lines), "  " * depth + end])


def render() -> str:
    return Reference(create_app(Settings()).openapi()).render()


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"Wrote {PAGE.name}.\n")
