"""The OpenAPI document is true: schemathesis asks the running server everything it allows, and much it does not."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from schemathesis.openapi import from_dict
from schemathesis.specs.openapi.checks import positive_data_acceptance

from whence.settings import Settings
from whence.web import create_app

schema = from_dict(create_app(Settings()).openapi())


@schema.parametrize()
@hypothesis_settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_answer_is_as_declared(case: schemathesis.Case[Any], running: str) -> None:
    # Not every file is text, and that one size is less than another cannot be said in JSON Schema.
    loose = case.operation.path.endswith("/chunking/preview")
    case.call_and_validate(base_url=running, excluded_checks=[positive_data_acceptance] if loose else None)


async def test_the_document_lists_no_422_and_describes_every_route(web: Any) -> None:
    document = web.openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
            assert "422" not in operation["responses"], (method, path)
            if path.startswith("/api/"):
                assert {"401", "403"} <= set(operation["responses"]), (method, path)
                assert operation["security"], (method, path)
