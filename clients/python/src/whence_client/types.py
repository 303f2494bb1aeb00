"""The shapes of requests and answers. Generated from the OpenAPI document by `make client`; do not edit."""

from __future__ import annotations

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")


class Listing(TypedDict, Generic[T]):
    items: list[T]
    pagination: Pagination


class Annotation(TypedDict):
    type: Literal['url_citation']
    url_citation: UrlCitation


class AnswerChanges(TypedDict):
    responseChanged: bool
    diff: list[DiffPart]
    sourcesAdded: list[str]
    sourcesRemoved: list[str]
    quotesAdded: list[ChangedQuote]
    quotesRemoved: list[ChangedQuote]


class AnswerModel(TypedDict):
    id: str
    projectId: str
    conversationId: str
    question: str
    response: str
    sources: list[ChatSource]
    citations: list[ChatCitation]
    model: str
    notes: list[str]
    totalDuration: int
    promptEvalCount: int | None
    evalCount: int | None
    createdAt: str
    url: str | None
    isStale: bool
    staleAt: str | None
    staleReasons: list[StaleReason]
    feedback: FeedbackModel | None
    refreshes: str | None
    refreshedBy: str | None


class AuditModel(TypedDict):
    id: str
    at: str
    project_id: str | None
    key_id: str | None
    key_name: str | None
    action: str
    path: str
    status: int
    request_id: str


class BulkAnswer(TypedDict):
    chunks: list[ChunkModel]
    found_count: int
    requested_count: int
    not_found: list[str]


class CachedTokens(TypedDict):
    cached_tokens: int


class ChangedQuote(TypedDict):
    quote: str
    documentId: str | None
    url: str | None


class ChatAnswer(TypedDict):
    response: str
    messages: list[Message]
    sources: list[ChatSource]
    model: str
    totalDuration: int
    promptEvalCount: int | None
    evalCount: int | None
    citations: list[ChatCitation]
    notes: list[str]
    answerId: NotRequired[str | None]
    conversationId: NotRequired[str | None]
    url: NotRequired[str | None]


class ChatCitation(TypedDict):
    responseStart: int
    responseEnd: int
    chunkId: str | None
    documentId: str | None
    startOffset: int | None
    endOffset: int | None
    page: int | None
    quote: str | None
    support: float
    supportLevel: Literal['verbatim', 'close', 'loose', 'none']
    supported: bool
    origin: Literal['model', 'attributed']
    judgement: Literal['entailed', 'contradicted', 'not stated'] | None
    judgedBy: str | None
    pages: list[PageRectsModel] | None
    documentVersion: NotRequired[int | None]
    url: NotRequired[str | None]


class ChatRequest(TypedDict):
    stream: NotRequired[bool | str | int | None]
    message: str
    history: NotRequired[list[HistoryTurn] | None]
    limit: NotRequired[int | None]
    filters: NotRequired[FiltersRequest | None]
    verify: NotRequired[bool | str | int | None]
    includeUngrounded: NotRequired[bool | str | int | None]
    includeRects: NotRequired[bool | str | int | None]
    conversationId: NotRequired[str | None]
    store: NotRequired[bool | str | int | None]
    projectId: NotRequired[str | None]
    project: NotRequired[str | None]


class ChatSource(TypedDict):
    id: str | None
    documentId: str | None
    chunkIndex: int | None
    chunkText: str
    source: str
    distance: float | None
    page: int | None
    startOffset: NotRequired[int | None]
    endOffset: NotRequired[int | None]
    documentVersion: NotRequired[int | None]
    url: NotRequired[str | None]


class ChunkDeletionImpact(TypedDict):
    property_claims: int
    objects: int
    relationships: int
    properties: int
    relationship_properties: int
    conflicts: int
    graph: GraphLoss
    chunk_id: str
    document_id: str
    chunk_index: int


class ChunkModel(TypedDict):
    id: str
    job_id: str
    document_id: str
    chunk_index: int
    content: str
    content_hash: str
    metadata: dict[str, Any] | None
    created_at: str
    document_version: int
    url: str | None
    source: NotRequired[SourceModel]
    embedding: NotRequired[list[float] | None]


class ChunkingChoice(TypedDict):
    strategy: Literal['character', 'sentence', 'paragraph']
    maxChunkSize: NotRequired[int | None]
    minChunkSize: NotRequired[int | None]


class ChunkingModel(TypedDict):
    strategy: str
    max_chunk_size: int
    min_chunk_size: int


class ClaimModel(TypedDict):
    schema_version: str
    extracted_at: str
    read_at: str
    quote: str | None
    start_offset: int | None
    end_offset: int | None
    chunk_id: str | None
    chunk_index: int | None
    document_id: str | None
    document_name: str | None
    page: int | None
    document_start: int | None
    document_end: int | None
    as_of: str | None
    ordered_by: Literal['valid_from', 'version'] | None
    document_version: int | None
    url: str | None
    text: NotRequired[str]
    pages: NotRequired[list[PageRectsModel]]
    id: str
    object_id: str
    property_name: str
    value: Any
    operation: Literal['created', 'updated', 'confirmed', 'imported', 'set']
    elements: list[ElementModel] | None
    ungrounded: bool
    current: bool
    rejected: NotRequired[bool]
    author: NotRequired[str | None]
    reason: NotRequired[str | None]
    curation_id: NotRequired[str | None]


class CompletionAnswer(TypedDict):
    id: str
    object: Literal['chat.completion']
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    sources: list[ChatSource]
    citations: list[ChatCitation]
    notes: list[str]
    answeredBy: str


class CompletionChoice(TypedDict):
    index: int
    message: CompletionMessage
    logprobs: None
    finish_reason: Literal['stop', 'length', 'content_filter', 'tool_calls']


class CompletionMessage(TypedDict):
    role: Literal['assistant']
    content: str | None
    refusal: None
    annotations: list[Annotation]
    tool_calls: NotRequired[list[dict[str, Any]]]


class CompletionRequest(TypedDict):
    messages: list[CompletionTurn]
    stream_options: NotRequired[StreamOptions | None]
    n: NotRequired[int | None]
    response_format: NotRequired[dict[str, Any] | None]
    tools: NotRequired[list[dict[str, Any]] | None]
    parallel_tool_calls: NotRequired[bool | str | int | None]
    function_call: NotRequired[Literal['auto', 'none'] | None]
    logprobs: NotRequired[Literal[False] | None]
    modalities: NotRequired[list[Literal['text']] | None]
    model: NotRequired[str | None]
    stream: NotRequired[bool | str | int | None]
    limit: NotRequired[int | None]
    citation_style: NotRequired[Literal['number', 'id', 'markdown', 'none'] | None]
    footnotes: NotRequired[bool | str | int | None]
    tool_choice: NotRequired[str | dict[str, Any] | None]


class CompletionTurn(TypedDict):
    role: Literal['system', 'developer', 'user', 'assistant', 'tool', 'function']
    content: NotRequired[str | list[ContentPart] | None]


class CompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ConflictModel(TypedDict):
    object_id: str
    object_type: str
    object_name: str
    relationship: RelationshipRef | None
    property_name: str
    value_count: int
    claims: list[ClaimModel]


class ContentPart(TypedDict):
    type: Literal['text', 'input_text', 'output_text', 'refusal']
    text: NotRequired[str | None]
    refusal: NotRequired[str | None]


class ContextAnswer(TypedDict):
    positionalChunks: list[ChunkModel]
    semanticChunks: list[SimilarChunk]
    relatedObjects: list[RelatedObject]
    chunk: ChunkModel


class ContextChoice(TypedDict):
    positionalCount: NotRequired[int | None]
    semanticChunkCount: NotRequired[int | None]
    relatedObjectCount: NotRequired[int | None]
    objectSimilarityThreshold: NotRequired[float | None]


class ContextModel(TypedDict):
    positionalChunks: list[ChunkModel]
    semanticChunks: list[SimilarChunk]
    relatedObjects: list[RelatedObject]


class ConversationAnswer(TypedDict):
    id: str
    projectId: str
    title: str | None
    createdAt: str
    updatedAt: str
    isOwn: bool
    answerCount: int
    staleCount: int
    url: str | None
    messages: list[ConversationMessage]


class ConversationChange(TypedDict):
    title: str


class ConversationCreate(TypedDict):
    projectId: NotRequired[str | None]
    title: NotRequired[str | None]


class ConversationMessage(TypedDict):
    role: Literal['system', 'user', 'assistant']
    content: str
    createdAt: str
    answer: AnswerModel | None


class ConversationModel(TypedDict):
    id: str
    projectId: str
    title: str | None
    createdAt: str
    updatedAt: str
    isOwn: bool
    answerCount: int
    staleCount: int
    url: str | None


class CorrectedObject(TypedDict):
    id: str
    project_id: str
    type: str
    name: str
    properties: dict[str, Any]
    aliases: list[str]
    ungrounded: list[str]
    created_at: str
    updated_at: str
    url: str | None
    sources: dict[str, list[ClaimModel]]
    claim_count: int
    merges: list[MergeModel]
    curations: list[CurationModel]


class CorrectionRequest(TypedDict):
    set: dict[str, Any]
    reason: NotRequired[str | None]
    author: NotRequired[str | None]


class CurationModel(TypedDict):
    id: str
    project_id: str
    action: Literal['set', 'reject', 'undo']
    subject: Literal['object', 'property', 'claim', 'relationship']
    state: Literal['active', 'waiting', 'replaced', 'undone']
    object_id: str | None
    object_type: str
    object_name: str
    property_name: str | None
    value: Any
    relationship_type: str | None
    target_type: str | None
    target_name: str | None
    undoes: str | None
    author: str
    reason: str | None
    created_at: str
    undone_at: str | None


class Deleted(TypedDict):
    id: str
    deleted: Literal[True]


class DeletionImpact(TypedDict):
    property_claims: int
    objects: int
    relationships: int
    properties: int
    relationship_properties: int
    conflicts: int
    graph: GraphLoss
    document_id: str
    name: str
    original_bytes: int
    chunks: int
    jobs: int
    answers: int


class DiffPart(TypedDict):
    op: Literal['same', 'removed', 'added']
    text: str


class DocumentDescription(TypedDict):
    metadata: dict[str, Any]


class DocumentModel(TypedDict):
    id: str
    project_id: str
    name: str
    origin: str | None
    file_type: str
    file_size: int
    sha256: str
    job_id: str | None
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled'] | None
    error: StoredError | None
    chunking: ChunkingModel | None
    chunk_count: int
    page_count: int | None
    created_at: str
    updated_at: str
    metadata: dict[str, Any]
    extraction: LastExtraction | None
    version: int
    version_at: str | None
    valid_from: str | None
    url: str | None


class DocumentText(TypedDict):
    document_id: str
    text: str
    characters: int
    start: int
    end: int
    pages: list[Page]


class DocumentVersion(TypedDict):
    version: int
    version_at: str
    reason: Literal['added', 'new_content', 'read_again'] | None
    chunk_count: int
    is_current: bool


class DocumentVersionText(TypedDict):
    version: int
    version_at: str
    reason: Literal['added', 'new_content', 'read_again'] | None
    chunk_count: int
    is_current: bool
    text: str
    chunks: list[VersionChunk]


class ElementModel(TypedDict):
    value: Any
    quote: str | None
    start_offset: int | None
    end_offset: int | None


class EmbeddingEntry(TypedDict):
    object: Literal['embedding']
    index: int
    embedding: list[float] | str


class EmbeddingsAnswer(TypedDict):
    object: Literal['list']
    model: str
    data: list[EmbeddingEntry]
    usage: EmbeddingsUsage


class EmbeddingsRequest(TypedDict):
    model: NotRequired[str | None]
    input: str | list[str]
    encoding_format: NotRequired[Literal['float', 'base64'] | None]
    dimensions: NotRequired[int | None]


class EmbeddingsUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int


class ErrorAnswer(TypedDict):
    success: Literal[False]
    error: ErrorBody


class ErrorBody(TypedDict):
    code: str
    message: str
    details: dict[str, Any]


class EventModel(TypedDict):
    id: str
    event: Literal['created', 'updated', 'confirmed', 'imported', 'set', 'merged', 'rejected', 'undone']
    happened_at: str
    property_name: str | None
    value: Any
    schema_version: str | None
    quote: str | None
    chunk_id: str | None
    document_id: str | None
    dropped_id: str | None
    dropped_name: str | None
    author: str | None
    reason: str | None


class EvidenceAnswer(TypedDict):
    items: list[EvidenceFound]


class EvidenceFound(TypedDict):
    found: bool
    reason: Literal['not_found', 'no_quote', 'text_changed'] | None
    chunk_id: str | None
    claim_id: str | None
    quote: str | None
    span: SpanModel | None


class EvidenceItem(TypedDict):
    chunkId: NotRequired[str | None]
    claimId: NotRequired[str | None]
    documentId: NotRequired[str | None]
    start: NotRequired[int | None]
    end: NotRequired[int | None]
    quote: NotRequired[str | None]


class EvidenceRequest(TypedDict):
    projectId: NotRequired[str | None]
    items: list[EvidenceItem]
    includeRects: NotRequired[bool | str | int | None]


class ExtractRequest(TypedDict):
    scope: NotRequired[Literal['stale', 'all'] | None]
    wait: NotRequired[bool | str | int | None]


class ExtractionModel(TypedDict):
    scope: Literal['stale', 'all', 'import']
    schema_version: str | None
    extractor: str | None
    model: str | None
    extracted: int
    empty: int
    failed: int
    rejected: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class ExtractionOrdered(TypedDict):
    documentId: str
    jobId: str
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled']
    scope: Literal['stale', 'all']
    error: StoredError | None


class Failure(TypedDict):
    name: str
    since: str
    times: int
    reason: str


class FeedbackModel(TypedDict):
    rating: Literal['up', 'down']
    comment: str | None
    wrongCitations: list[int]
    at: str


class FeedbackRequest(TypedDict):
    rating: Literal['up', 'down']
    comment: NotRequired[str | None]
    wrongCitations: NotRequired[list[int] | None]


class FiltersRequest(TypedDict):
    documentIds: NotRequired[list[str] | None]
    fileTypes: NotRequired[list[str] | None]
    metadata: NotRequired[dict[str, Any] | None]
    created: NotRequired[TimeSpan | None]
    updated: NotRequired[TimeSpan | None]


class FindingModel(TypedDict):
    what: str
    state: Literal['ok', 'note', 'wrong']
    says: str


class GraphAnswer(TypedDict):
    nodes: list[ObjectModel]
    edges: list[RelationshipModel]
    truncated: bool


class GraphLoss(TypedDict):
    objects: list[LostObjectModel]
    properties: list[LostPropertyModel]
    relationships: list[LostRelationshipModel]
    relationship_properties: list[LostRelationshipPropertyModel]


class GraphOutline(TypedDict):
    nodes: list[list[Any]]
    edges: list[list[Any]]
    total: int
    types: dict[str, int]


class Health(TypedDict):
    status: Literal['ok']
    version: str


class Highlight(TypedDict):
    start: int
    end: int


class HistoryTurn(TypedDict):
    role: Literal['system', 'user', 'assistant']
    content: str


class HitDocument(TypedDict):
    id: str
    name: str
    fileType: str


class HitModel(TypedDict):
    chunk: ChunkModel
    document: HitDocument
    page: int | None
    startOffset: int | None
    endOffset: int | None
    score: float
    scores: HitScores
    distance: float | None
    highlights: list[Highlight]
    url: str | None
    alsoIn: list[OtherPlace]
    context: NotRequired[ContextModel]


class HitScores(TypedDict):
    text: float | None
    vector: float | None
    rerank: float | None


class IncompleteDetails(TypedDict):
    reason: Literal['max_output_tokens', 'content_filter']


class Ingested(TypedDict):
    fileName: str
    documentId: str | None
    jobId: str | None
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled']
    alreadyExists: bool
    error: StoredError | None
    chunkCount: NotRequired[int]


class IngestedMany(TypedDict):
    items: list[Ingested]


class JobCounts(TypedDict):
    pending: int
    processing: int
    completed: int
    failed: int
    cancelled: int


class JobModel(TypedDict):
    id: str
    project_id: str
    document_id: str | None
    job_type: Literal['document_processing', 'extraction']
    job_name: str
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled']
    stage: Literal['parsing', 'chunking', 'embedding', 'storing', 'extracting'] | None
    stages: list[StageModel]
    done: int
    total: int | None
    attempts: int
    error: StoredError | None
    chunking: ChunkingModel | None
    extraction: ExtractionModel | None
    file_name: str
    file_type: str
    file_size: int
    created_at: str
    started_at: str | None
    completed_at: str | None
    jobs: NotRequired[JobCounts | None]


class KeyCreate(TypedDict):
    name: NotRequired[str | None]
    scope: NotRequired[Literal['read', 'write', 'admin'] | None]
    projectId: NotRequired[str | None]
    requestsPerMinute: NotRequired[int | None]
    tokensPerMinute: NotRequired[int | None]


class KeyCreated(TypedDict):
    id: str
    name: str
    prefix: str
    project_id: str | None
    scope: Literal['read', 'write', 'admin']
    created_at: str
    revoked_at: str | None
    last_used_at: str | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    key: str


class KeyModel(TypedDict):
    id: str
    name: str
    prefix: str
    project_id: str | None
    scope: Literal['read', 'write', 'admin']
    created_at: str
    revoked_at: str | None
    last_used_at: str | None
    requests_per_minute: int | None
    tokens_per_minute: int | None


class LastExtraction(TypedDict):
    job_id: str
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled']
    schema_version: str | None


class LineModel(TypedDict):
    start: int
    end: int
    text: str
    rect: RectModel


class LinkAnswer(TypedDict):
    kind: Literal['document', 'object', 'answer', 'conversation']
    id: str
    url: str | None
    name: NotRequired[str]
    version: NotRequired[int | None]
    currentVersion: NotRequired[int | None]
    isCurrent: NotRequired[bool]
    status: NotRequired[Literal['current', 'same', 'moved', 'gone', 'unknown']]
    span: NotRequired[LinkSpan | None]
    oldSpan: NotRequired[LinkSpan | None]
    quote: NotRequired[str | None]
    chunkId: NotRequired[str | None]
    page: NotRequired[int | None]


class LinkSpan(TypedDict):
    start: int
    end: int


class LocationModel(TypedDict):
    kind: Literal['page', 'slide', 'row', 'part', 'section', 'text']
    label: str
    page: int | None
    last_page: int | None
    sheet: str | None
    row: int | None
    last_row: int | None
    part: str | None


class LostObjectModel(TypedDict):
    id: str
    type: str
    name: str


class LostPropertyModel(TypedDict):
    property_name: str
    value: Any
    stays: bool
    falls_back_to: Any
    object_id: str
    object_type: str
    object_name: str


class LostRelationshipModel(TypedDict):
    id: str
    type: str
    source_name: str
    target_name: str


class LostRelationshipPropertyModel(TypedDict):
    property_name: str
    value: Any
    stays: bool
    falls_back_to: Any
    relationship_id: str
    relationship_type: str
    source_name: str
    target_name: str


class Me(TypedDict):
    scope: Literal['read', 'write', 'admin']
    project_id: str | None
    key_id: str | None
    name: str | None


class MentionModel(TypedDict):
    id: str
    job_id: str
    document_id: str
    chunk_index: int
    content: str
    content_hash: str
    metadata: dict[str, Any] | None
    created_at: str
    document_version: int
    url: str | None
    source: NotRequired[SourceModel]
    embedding: NotRequired[list[float] | None]
    document_name: str
    page: int | None
    property_names: list[str]
    schema_version: str


class MentionedObject(TypedDict):
    id: str
    project_id: str
    type: str
    name: str
    properties: dict[str, Any]
    aliases: list[str]
    ungrounded: list[str]
    created_at: str
    updated_at: str
    url: str | None
    property_names: list[str]


class MergeModel(TypedDict):
    id: str
    project_id: str
    object_id: str
    object_name: str
    dropped_id: str
    dropped_type: str
    dropped_name: str
    merged_at: str


class MergeRequest(TypedDict):
    keepId: str
    dropId: str


class Message(TypedDict):
    role: Literal['system', 'user', 'assistant']
    content: str


class ModelEntry(TypedDict):
    id: str
    object: Literal['model']
    created: int
    owned_by: Literal['whence']


class ModelList(TypedDict):
    object: Literal['list']
    data: list[ModelEntry]


class ObjectAnswer(TypedDict):
    id: str
    project_id: str
    type: str
    name: str
    properties: dict[str, Any]
    aliases: list[str]
    ungrounded: list[str]
    created_at: str
    updated_at: str
    url: str | None
    sources: dict[str, list[ClaimModel]]
    claim_count: int
    merges: list[MergeModel]


class ObjectModel(TypedDict):
    id: str
    project_id: str
    type: str
    name: str
    properties: dict[str, Any]
    aliases: list[str]
    ungrounded: list[str]
    created_at: str
    updated_at: str
    url: str | None


class ObjectRef(TypedDict):
    id: str
    type: str
    name: str


class OrderedJob(TypedDict):
    documentId: str
    jobId: str


class OtherPlace(TypedDict):
    chunkId: str
    document: HitDocument
    page: int | None
    startOffset: int | None
    endOffset: int | None
    url: str | None


class OutputAnnotation(TypedDict):
    type: Literal['url_citation']
    start_index: int
    end_index: int
    title: str
    url: str


class OutputMessage(TypedDict):
    type: Literal['message']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete']
    role: Literal['assistant']
    content: list[OutputText]


class OutputText(TypedDict):
    type: Literal['output_text']
    text: str
    annotations: list[OutputAnnotation]


class Page(TypedDict):
    number: int
    start: int
    end: int
    confidence: NotRequired[float | None]


class PageLines(TypedDict):
    lines: list[LineModel]


class PageModel(TypedDict):
    page: int
    start: int
    end: int
    width: float | None
    height: float | None
    rotation: int | None
    image: bool
    reason: Literal['no_layout', 'text_differs', 'text_overlaps', 'unreadable', 'no_original'] | None
    confidence: float | None


class PageRectsModel(TypedDict):
    page: int
    width: float | None
    height: float | None
    rotation: int | None
    start: int
    end: int
    rects: list[RectModel] | None
    reason: Literal['no_layout', 'text_differs', 'text_overlaps', 'unreadable', 'no_original'] | None
    confidence: float | None


class Pagination(TypedDict):
    total: int
    limit: int
    offset: int
    has_more: bool


class PreviewAnswer(TypedDict):
    chunkingStrategy: str
    chunkingOptions: PreviewOptions
    chunks: list[PreviewChunk]
    summary: PreviewSummary


class PreviewChunk(TypedDict):
    index: int
    text: str
    startOffset: int
    endOffset: int
    size: int
    boundaryType: Literal['character', 'sentence', 'paragraph', 'section']
    headings: list[str]


class PreviewOptions(TypedDict):
    maxChunkSize: int
    minChunkSize: int


class PreviewSummary(TypedDict):
    count: int
    minSize: int
    medianSize: float
    maxSize: int
    sentenceEndShare: float | None
    truncated: bool


class ProjectChange(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str | None]
    language: NotRequired[Literal['simple', 'arabic', 'armenian', 'basque', 'catalan', 'czech', 'danish', 'dutch', 'english', 'esperanto', 'estonian', 'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian', 'persian', 'polish', 'portuguese', 'romanian', 'russian', 'serbian', 'sesotho', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish']]
    config: NotRequired[ProjectConfig]


class ProjectConfig(TypedDict):
    extraction: NotRequired[Literal['auto', 'manual'] | None]
    extractor: NotRequired[str | None]
    context: NotRequired[ContextChoice | None]
    chunking: NotRequired[ChunkingChoice | None]
    verify: NotRequired[bool | None]
    citationStyle: NotRequired[Literal['number', 'id', 'markdown', 'none'] | None]
    footnotes: NotRequired[bool | None]
    grounding: NotRequired[Literal['strict', 'lenient'] | None]
    media: NotRequired[Literal['defused', 'allowed'] | None]
    lightragUrl: NotRequired[str | None]
    lightragKey: NotRequired[str | None]


class ProjectCreate(TypedDict):
    name: str
    description: NotRequired[str | None]
    language: NotRequired[Literal['simple', 'arabic', 'armenian', 'basque', 'catalan', 'czech', 'danish', 'dutch', 'english', 'esperanto', 'estonian', 'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian', 'persian', 'polish', 'portuguese', 'romanian', 'russian', 'serbian', 'sesotho', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish']]
    config: NotRequired[ProjectConfig]


class ProjectModel(TypedDict):
    id: str
    name: str
    description: str | None
    language: str
    config: ProjectConfig
    created_at: str
    updated_at: str


class Readiness(TypedDict):
    status: Literal['ready', 'degraded', 'not ready']
    database: str
    migrations: str
    worker: str
    background: list[Failure]


class ReadingModel(TypedDict):
    chunk_id: str
    chunk_index: int
    page: int | None
    schema_version: str
    outcome: Literal['extracted', 'empty', 'failed']
    reason: str | None
    rejected: int
    rejections: list[RejectedProposal]
    prompt_tokens: int
    completion_tokens: int
    extracted_at: str


class Reasoned(TypedDict):
    reason: NotRequired[str | None]
    author: NotRequired[str | None]


class ReasoningTokens(TypedDict):
    reasoning_tokens: int


class RectModel(TypedDict):
    x0: float
    y0: float
    x1: float
    y1: float


class ReextractRequest(TypedDict):
    scope: NotRequired[Literal['stale', 'all'] | None]
    dryRun: NotRequired[bool | str | int | None]


class ReextractionAnswer(TypedDict):
    dryRun: bool
    scope: Literal['stale', 'all']
    schemaVersion: str | None
    documents: int
    chunks: int
    carriedOver: int
    extractor: str
    promptTokens: int
    completionTokens: int
    cost: float | None
    jobId: str | None
    jobs: list[OrderedJob]


class RefreshedAnswer(TypedDict):
    answer: AnswerModel
    previous: AnswerModel
    changes: AnswerChanges


class RejectedProposal(TypedDict):
    where: str
    reason: str
    message: str
    proposed: NotRequired[str | None]


class RelatedObject(TypedDict):
    id: str
    type: str
    name: str
    properties: dict[str, Any]
    similarity: float
    ungrounded: NotRequired[list[str]]


class RelationshipAnswer(TypedDict):
    id: str
    project_id: str
    type: str
    source_id: str
    source_type: str
    source_name: str
    target_id: str
    target_type: str
    target_name: str
    properties: dict[str, Any]
    created_at: str
    updated_at: str
    ungrounded: bool
    sources: list[RelationshipClaimModel]
    claim_count: int


class RelationshipClaimModel(TypedDict):
    schema_version: str
    extracted_at: str
    read_at: str
    quote: str | None
    start_offset: int | None
    end_offset: int | None
    chunk_id: str | None
    chunk_index: int | None
    document_id: str | None
    document_name: str | None
    page: int | None
    document_start: int | None
    document_end: int | None
    as_of: str | None
    ordered_by: Literal['valid_from', 'version'] | None
    document_version: int | None
    url: str | None
    text: NotRequired[str]
    pages: NotRequired[list[PageRectsModel]]
    id: str
    relationship_id: str
    properties: dict[str, Any]
    operation: Literal['created', 'updated', 'confirmed', 'imported', 'set']
    ungrounded: bool


class RelationshipModel(TypedDict):
    id: str
    project_id: str
    type: str
    source_id: str
    source_type: str
    source_name: str
    target_id: str
    target_type: str
    target_name: str
    properties: dict[str, Any]
    created_at: str
    updated_at: str
    ungrounded: bool


class RelationshipRef(TypedDict):
    id: str
    type: str
    source: ObjectRef
    target: ObjectRef


class ResponseAnswer(TypedDict):
    id: str
    object: Literal['response']
    created_at: int
    status: Literal['in_progress', 'completed', 'incomplete']
    error: None
    incomplete_details: IncompleteDetails | None
    instructions: None
    metadata: dict[str, Any]
    model: str
    output: list[OutputMessage]
    parallel_tool_calls: bool
    previous_response_id: str | None
    temperature: None
    tool_choice: str
    tools: list[dict[str, Any]]
    top_p: None
    store: bool
    usage: ResponseUsage | None
    sources: NotRequired[list[ChatSource]]
    citations: NotRequired[list[ChatCitation]]
    notes: NotRequired[list[str]]
    answeredBy: NotRequired[str]


class ResponseDeleted(TypedDict):
    id: str
    object: Literal['response']
    deleted: Literal[True]


class ResponseRequest(TypedDict):
    input: str | list[CompletionTurn]
    previous_response_id: NotRequired[str | None]
    conversation: NotRequired[None]
    background: NotRequired[Literal[False] | None]
    store: NotRequired[bool | str | int | None]
    text: NotRequired[TextOptions | None]
    model: NotRequired[str | None]
    stream: NotRequired[bool | str | int | None]
    limit: NotRequired[int | None]
    citation_style: NotRequired[Literal['number', 'id', 'markdown', 'none'] | None]
    footnotes: NotRequired[bool | str | int | None]
    tool_choice: NotRequired[str | dict[str, Any] | None]


class ResponseUsage(TypedDict):
    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: ReasoningTokens
    total_tokens: int


class SchemaCheck(TypedDict):
    valid: bool
    problem: SchemaProblem | None
    changes: SchemaDiff | None


SchemaDiff = TypedDict(
    "SchemaDiff",
    {
        "from": "str",
        "to": "str",
        "added": "list[SchemaElement]",
        "removed": "list[SchemaElement]",
        "renamed": "list[SchemaElement]",
        "changed": "list[SchemaElement]",
        "remerged": "list[SchemaElement]",
        "needs_model": "bool",
    },
)


class SchemaElement(TypedDict):
    kind: Literal['object_type', 'property', 'relationship_type', 'relationship_property']
    type: NotRequired[str]
    name: str
    was: NotRequired[str]


class SchemaModel(TypedDict):
    project_id: str
    version: str | None
    number: int | None
    sha256: str
    schema: dict[str, Any]
    created_at: str | None


class SchemaProblem(TypedDict):
    path: str
    message: str
    provided: Any
    expected: str | None


class SchemaPut(TypedDict):
    project_id: str
    version: str | None
    number: int | None
    sha256: str
    schema: dict[str, Any]
    created_at: str | None
    created: bool


class SearchAnswer(TypedDict):
    items: list[HitModel]
    pagination: Pagination
    query: str
    mode: Literal['hybrid', 'vector', 'text']
    notes: list[str]


class SearchRequest(TypedDict):
    query: str
    mode: NotRequired[Literal['hybrid', 'vector', 'text'] | None]
    limit: NotRequired[int | None]
    offset: NotRequired[int | None]
    floor: NotRequired[bool | str | int | None]
    minScore: NotRequired[float | None]
    filters: NotRequired[FiltersRequest | None]
    expand: NotRequired[ContextChoice | None]
    includeUngrounded: NotRequired[bool | str | int | None]
    projectId: NotRequired[str | None]
    project: NotRequired[str | None]


class ServerStatus(TypedDict):
    version: str
    findings: list[FindingModel]
    settings: dict[str, str]


class SimilarChunk(TypedDict):
    chunk: ChunkModel
    distance: float


class SourceModel(TypedDict):
    job_id: str
    job_name: str
    job_type: Literal['document_processing', 'extraction']
    status: Literal['pending', 'processing', 'completed', 'failed', 'cancelled']
    file_name: str
    file_type: str
    file_size: int
    created_at: str
    completed_at: str | None
    total_chunks: int


class SpanModel(TypedDict):
    document_id: str
    document_name: str
    file_type: str
    version: int
    start: int
    end: int
    text: str
    pages: list[PageRectsModel]
    location: LocationModel
    headings: list[str]
    before: str
    after: str
    url: str | None


class StageModel(TypedDict):
    stage: Literal['parsing', 'chunking', 'embedding', 'storing', 'extracting']
    started_at: str
    ended_at: str | None


class StaleAnswer(TypedDict):
    items: list[ClaimModel]
    pagination: Pagination
    schema_version: str | None
    chunks: Listing[StaleChunkModel]


class StaleChunkModel(TypedDict):
    chunk_id: str
    document_id: str
    chunk_index: int
    characters: int
    token_count: int | None
    schema_version: str | None
    outcome: Literal['extracted', 'empty', 'failed'] | None


class StaleReason(TypedDict):
    reason: Literal['changed', 'deleted', 'rejected']
    at: str
    chunkId: str
    documentId: str | None
    documentName: str
    currentVersion: int | None
    citations: list[int]
    oldText: str
    newText: str | None
    quoteStillThere: bool
    url: str | None


class StatedClaim(TypedDict):
    schema_version: str
    extracted_at: str
    read_at: str
    quote: str | None
    start_offset: int | None
    end_offset: int | None
    chunk_id: str | None
    chunk_index: int | None
    document_id: str | None
    document_name: str | None
    page: int | None
    document_start: int | None
    document_end: int | None
    as_of: str | None
    ordered_by: Literal['valid_from', 'version'] | None
    document_version: int | None
    url: str | None
    text: NotRequired[str]
    pages: NotRequired[list[PageRectsModel]]
    id: str
    kind: Literal['property', 'relationship']
    object: ObjectRef | None
    relationship: RelationshipRef | None
    property_name: str | None
    value: Any
    operation: Literal['created', 'updated', 'confirmed', 'imported', 'set']
    ungrounded: bool
    current: bool


class StoredError(TypedDict):
    code: str
    message: str
    details: NotRequired[dict[str, Any]]


class StreamOptions(TypedDict):
    include_usage: NotRequired[bool | str | int | None]


class SuggestedObjectModel(TypedDict):
    id: str
    name: str
    claim_count: int


class SuggestionModel(TypedDict):
    id: str
    type: str
    score: float
    reasons: dict[str, float]
    keep: SuggestedObjectModel
    drop: SuggestedObjectModel


class TextFormat(TypedDict):
    type: NotRequired[Literal['text', 'json_object', 'json_schema'] | None]


class TextIngest(TypedDict):
    text: str
    name: NotRequired[str | None]
    projectId: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    wait: NotRequired[bool | str | int | None]
    chunkingStrategy: NotRequired[Literal['character', 'sentence', 'paragraph'] | None]
    chunkingOptions: NotRequired[dict[str, Any] | None]


class TextOptions(TypedDict):
    format: NotRequired[TextFormat | None]


TimeSpan = TypedDict(
    "TimeSpan",
    {
        "from": "NotRequired[str | None]",
        "to": "NotRequired[str | None]",
    },
)


class URLIngest(TypedDict):
    url: str
    projectId: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    wait: NotRequired[bool | str | int | None]
    chunkingStrategy: NotRequired[Literal['character', 'sentence', 'paragraph'] | None]
    chunkingOptions: NotRequired[dict[str, Any] | None]


class UrlCitation(TypedDict):
    start_index: int
    end_index: int
    title: str
    url: str


class VersionChunk(TypedDict):
    id: str
    start: int
    end: int


class WholeGraphAnswer(TypedDict):
    nodes: list[ObjectModel]
    edges: list[RelationshipModel]
    truncated: bool
    types: dict[str, int]


CURSORS = frozenset(
    (
        "/answers",
        "/audit",
        "/chunks/{}/claims",
        "/chunks/{}/objects",
        "/conversations",
        "/documents",
        "/documents/{}/chunks",
        "/documents/{}/claims",
        "/jobs",
        "/jobs/{}/chunks",
        "/jobs/{}/readings",
        "/keys",
        "/objects",
        "/objects/merges",
        "/objects/{}/chunks",
        "/objects/{}/curations",
        "/objects/{}/history",
        "/objects/{}/provenance",
        "/projects",
        "/projects/{}/curations",
        "/projects/{}/merge-suggestions",
        "/relationships",
    )
)
"""Lists that take `after`."""
