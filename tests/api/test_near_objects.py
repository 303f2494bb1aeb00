"""What the graph has to say to a question that names nothing in it: by the vectors of the local model."""

import pytest
from tests.api.test_small_projects import shelve_texts

from whence.app import App
from whence.chat import Answer, Asked
from whence.models import Project

PORTAL = """# Requirements of the portal

REQ-1: The portal must support single sign-on. Tokens must expire within 1 hour.

REQ-2: The system shall lock an account after five failed attempts.

REQ-3: Sessions shall end after 30 minutes of inactivity.
"""


@pytest.fixture(scope="module")
async def project(minilm_app: App) -> Project:
    app = minilm_app
    project = await shelve_texts(app, "portal", {"portal.md": PORTAL.encode()})
    (found,), _ = await app.store.documents.page(project.id, limit=10, offset=0)
    document = await app.store.documents.get(found["id"])
    job = await app.orders.document(document, scope="all")
    await app.extraction.run(project.id, job.id)
    assert (await app.store.graph.objects.page(project.id, limit=10, offset=0))[1] == 3
    return project


async def graph_of(app: App, project: Project, question: str) -> tuple[Answer, str | None]:
    answer = await app.chat.answer(project.id, Asked(message=question))
    assert [one.is_graph for one in answer.sources[1:]] == [False] * len(answer.sources[1:])
    return answer, next((one.text for one in answer.sources if one.is_graph), None)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("After how many minutes of inactivity do sessions end?", "REQ-3"),
        ("When is an account locked after failed attempts?", "REQ-2"),
    ],
)
async def test_an_object_that_a_question_is_about_is_told(
    minilm_app: App, project: Project, question: str, about: str
) -> None:
    _, told = await graph_of(minilm_app, project, question)
    assert told is not None
    assert f"{about} (Requirement): " in told.splitlines()[1]


@pytest.mark.parametrize(
    "question", ["How are diamonds formed?", "Who composed The Magic Flute?", "会话多久结束"]
)
async def test_of_a_question_about_something_else_the_graph_says_nothing(
    minilm_app: App, project: Project, question: str
) -> None:
    """Nor of one in a script that is all alike to the model."""
    answer, told = await graph_of(minilm_app, project, question)
    assert (told, answer.sources) == (None, ())
