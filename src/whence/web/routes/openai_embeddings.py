"""OpenAI's embeddings, by the embedder of a project."""

from whence.api.openai_embeddings import EmbeddingsAnswer, EmbeddingsRequest
from whence.errors import EmbeddingUnavailable, InvalidParameter, ProjectNotFound
from whence.providers import Embedder
from whence.web.access import Access, Reader
from whence.web.events import Connected, unless_gone
from whence.web.responses import Bare, respond
from whence.web.routes import Tolerant, api_router, documented

router = api_router("openai", root="/v1", route_class=Tolerant)


@router.post("/embeddings", responses=documented(ProjectNotFound, EmbeddingUnavailable))
async def create_embeddings(
    access: Reader, body: EmbeddingsRequest, connection: Connected
) -> Bare[EmbeddingsAnswer]:
    """Embed texts with the model of a project.

    The vectors are normalised and comparable to those of the project's chunks. A long text is embedded in several windows and
    never cut off.
    """
    embedder = await _find_embedder(access, body.model)
    if body.dimensions not in (None, embedder.dimensions):
        raise InvalidParameter.of("dimensions", provided=body.dimensions, expected=str(embedder.dimensions))
    embedded = await unless_gone(connection, embedder.embed(body.input))
    await access.meter.use(access.caller, sum(count or 0 for count in embedded.token_counts))
    return respond(
        EmbeddingsAnswer.of_vectors(embedded, embedder.model, encoded=body.encoding_format == "base64")
    )


async def _find_embedder(access: Access, model: str | None) -> Embedder:
    """The embedder with this name, else the project's."""
    embedders = access.app.embedders
    if model == embedders.configured.model:
        return embedders.configured
    project = await access.find_project(model)
    setting = await access.store.hits.setting(project.id)
    return embedders.of(setting.space) if setting.space else embedders.configured
