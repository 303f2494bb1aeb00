"""A fast path for the hot chunk routes.

The framework's layers (exception handling, exit stacks, two route look-ups) take longer than the query of one chunk.
Routes of the class `Direct` bypass them: requests go straight to their function, and errors go through the same
`answer_to` as all others. FastAPI still documents these routes and answers all other methods.
"""

from fastapi import FastAPI, Request

from whence.web.errors import EXPECTED, answer_to
from whence.web.middleware import ASGIApp, Receive, Scope, Send
from whence.web.routes import Direct


class FastPath:
    def __init__(self, app: ASGIApp, *, web: FastAPI) -> None:
        self._app = app
        self._web = web
        self._routes = [
            (method, route)
            for route in web.routes
            if isinstance(route, Direct)
            for method in route.methods or ()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self._web
        if scope["type"] == "http":
            for method, route in self._routes:
                if method == scope["method"] and (found := route.path_regex.match(scope["path"])):
                    scope["path_params"] = found.groupdict()
                    await self._answer(route, scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answer(self, route: Direct, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await route.answer(request)
        except EXPECTED as exc:
            response = answer_to(request, exc)
        await response(scope, receive, send)
