"""The OpenAPI document. FastAPI needs a second to write it, so each test process writes it once, when a test asks for it."""

from typing import Any

from fastapi.routing import APIRoute

from whence.settings import Settings
from whence.web.server import build_openapi, create_app


def document() -> dict[str, Any]:
    return build_openapi()


def operations() -> list[tuple[str, str]]:
    """Method and path of every route in the document, without writing the document."""
    routes = [route for route in create_app(Settings()).routes if isinstance(route, APIRoute)]
    return [
        (method, route.path_format)
        for route in routes
        if route.include_in_schema
        for method in sorted(route.methods or ())
    ]
