"""A bucket on loopback that speaks as much of S3 as originals need, and fails on demand.

It is a real server on a real port, so that other processes can be pointed at it too:

    with Bucket() as bucket:
        bucket.trouble = unavailable
        ... bucket.environment, bucket.objects, bucket.requests

Requests have to be signed with its key; the signature itself is not looked at.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

NAME = "originals"
KEY_ID, SECRET = "AKIAHERON", "s3cret-of-the-heron"
PAGE = 3
"""How many keys a list has at most, so that there are lists of several pages."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    key: str
    query: dict[str, str]
    size: int


Trouble = Callable[["_Handler"], bool]
"""What a server does instead of answering; False where it answers after all."""


def unavailable(handler: "_Handler") -> bool:
    handler.reply(503, b"<Error><Code>ServiceUnavailable</Code></Error>")
    return True


def forbidden(handler: "_Handler") -> bool:
    """The answer tells of the key, as that of the real one does."""
    told = f"<AWSAccessKeyId>{KEY_ID}</AWSAccessKeyId><Token-0>{SECRET}</Token-0>"
    handler.reply(403, f"<Error><Code>AccessDenied</Code>{told}</Error>".encode())
    return True


def hang_up(handler: "_Handler") -> bool:
    handler.close_connection = True
    handler.connection.close()
    return True


def slow(seconds: float) -> Trouble:
    def wait(_handler: "_Handler") -> bool:
        time.sleep(seconds)
        return False

    return wait


def half(handler: "_Handler") -> bool:
    """Of an object that is asked for, half of it; then the connection is closed."""
    if handler.command != "GET" or not handler.key:
        return False
    content = handler.bucket.objects[handler.key]
    handler.send_response(200)
    handler.send_object_headers(content)
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2])
    handler.wfile.flush()
    return hang_up(handler)


@dataclass
class Bucket:
    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    """Parts of what is on its way, by the number of the upload."""
    requests: list[Request] = field(default_factory=list)
    trouble: Trouble | None = None
    modified: float = field(default_factory=time.time)
    """When every object was put there, for all that a list says."""

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"bucket": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "WHENCE_STORAGE_URL": f"s3://{NAME}/whence",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_address[1]}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: Bucket
    key = ""

    def _answer(self) -> None:
        address = urlsplit(self.path)
        self.query = {
            name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()
        }
        _, name, *rest = unquote(address.path).split("/", 2)
        self.key = rest[0] if rest else ""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.bucket.requests.append(Request(self.command, self.key, self.query, len(body)))
        if self.bucket.trouble is not None and self.bucket.trouble(self):
            return
        if name != NAME or f"Credential={KEY_ID}/" not in self.headers.get("Authorization", ""):
            self.reply(403, b"<Error><Code>InvalidAccessKeyId</Code></Error>")
            return
        {"PUT": self._put, "GET": self._get, "HEAD": self._get, "DELETE": self._delete, "POST": self._post}[
            self.command
        ](body)

    do_PUT = do_GET = do_HEAD = do_DELETE = do_POST = _answer  # noqa: N815 - the base class's names

    def _put(self, body: bytes) -> None:
        if "uploadId" in self.query:
            self.bucket.uploads[self.query["uploadId"]][int(self.query["partNumber"])] = body
        elif self.headers.get("If-None-Match") == "*" and self.key in self.bucket.objects:
            self.reply(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            return
        elif source := self.headers.get("x-amz-copy-source"):
            self._copy(unquote(source).lstrip("/").partition("/")[2])
            return
        else:
            self.bucket.objects[self.key] = body
        self.reply(200, ETag=f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"')

    def _copy(self, source: str) -> None:
        if source not in self.bucket.objects:
            self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        self.bucket.objects[self.key] = self.bucket.objects[source]
        self.reply(200, _xml("CopyObjectResult", '<ETag>"0"</ETag>'))

    def _get(self, _body: bytes) -> None:
        if not self.key:
            self._list()
        elif self.key in self.bucket.objects:
            self._send(self.bucket.objects[self.key])
        else:
            self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def _send(self, content: bytes) -> None:
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        self.send_response(206 if span else 200)
        part = content
        if span:
            start, end = int(span[1]), min(int(span[2] or len(content)), len(content) - 1)
            part = content[start : end + 1]
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        self.send_object_headers(part)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(part)

    def send_object_headers(self, content: bytes) -> None:
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"')
        self.send_header("Last-Modified", self.date_time_string(self.bucket.modified))

    def _delete(self, _body: bytes) -> None:
        if "uploadId" in self.query:
            self.bucket.uploads.pop(self.query["uploadId"], None)
        else:
            self.bucket.objects.pop(self.key, None)
        self.reply(204)

    def _post(self, body: bytes) -> None:
        if "uploads" in self.query:
            ident = f"upload-{len(self.bucket.requests)}"
            self.bucket.uploads[ident] = {}
            self.reply(200, _xml("InitiateMultipartUploadResult", f"<UploadId>{ident}</UploadId>"))
        elif "uploadId" in self.query:
            parts = self.bucket.uploads.pop(self.query["uploadId"])
            self.bucket.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
            self.reply(
                200,
                _xml("CompleteMultipartUploadResult", f'<Key>{self.key}</Key><ETag>"{len(parts)}"</ETag>'),
            )
        else:  # many at once
            keys = [key.decode() for key in re.findall(rb"<Key>(.*?)</Key>", body)]
            for key in keys:
                self.bucket.objects.pop(key, None)
            deleted = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
            self.reply(200, _xml("DeleteResult", deleted))

    def _list(self) -> None:
        after = self.query.get("continuation-token", "")
        keys = [
            key
            for key in sorted(self.bucket.objects)
            if key.startswith(self.query.get("prefix", "")) and key > after
        ]
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.bucket.modified))
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{stamp}</LastModified>"
            f'<ETag>"0"</ETag><Size>{len(self.bucket.objects[key])}</Size></Contents>'
            for key in keys[:PAGE]
        )
        more = (
            f"<NextContinuationToken>{escape(keys[PAGE - 1])}</NextContinuationToken>" if keys[PAGE:] else ""
        )
        truncated = "true" if more else "false"
        self.reply(200, _xml("ListBucketResult", f"<IsTruncated>{truncated}</IsTruncated>{more}{found}"))

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


def _xml(name: str, content: str) -> bytes:
    return f'<?xml version="1.0"?><{name}>{content}</{name}>'.encode()
