"""HTTP: routes translate, they do not think."""

from whence.web.server import create_app

__all__ = ["create_app"]
