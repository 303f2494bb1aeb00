import { Connection, posted, type ConnectionOptions } from "./connection.js";
import { ApiError, unexpected } from "./errors.js";
import type { components } from "./schema.js";

export type Schemas = components["schemas"];
export type Answer = Schemas["ChatAnswer"];
export type Chunk = Schemas["ChunkModel"];
export type Citation = Schemas["ChatCitation"];
export type Claim = Schemas["ClaimModel"];
export type Document = Schemas["DocumentModel"];
export type GraphObject = Schemas["ObjectModel"];
export type Ingested = Schemas["Ingested"];
export type Job = Schemas["JobModel"];
export type Project = Schemas["ProjectModel"];
export type SearchAnswer = Schemas["SearchAnswer"];
export type Source = Schemas["ChatSource"];

export interface ClientOptions extends ConnectionOptions {
  /** A project's id. Default: the key's own, else `default`. */
  project?: string;
}

export type AskOptions = Partial<Omit<Schemas["ChatRequest"], "message" | "stream">> & {
  signal?: AbortSignal;
};
export type SearchOptions = Partial<Omit<Schemas["SearchRequest"], "query">> & { signal?: AbortSignal };
export type IngestOptions = Partial<Omit<Schemas["TextIngest"], "text" | "name" | "wait">> & {
  /** Answer when the document can be asked about. */
  wait?: boolean;
  signal?: AbortSignal;
};
/** A text with a name, a URL for the server to fetch, or a file. */
export type Ingestible = { text: string; name: string } | { url: string } | File;

/** What happens while an answer is written. `done` has the whole of it. */
export type AskEvent =
  | { name: "sources"; data: { sources: Source[] } }
  | { name: "token"; data: { text: string } }
  | { name: "done"; data: Answer }
  | { name: "verified"; data: { citations: Citation[] } };

interface Listing<T> {
  items: T[];
  pagination: { has_more: boolean };
}
type Query = Record<string, string | number | boolean | undefined>;

const PAGE = 100;

/** A Whence server. Every method throws an ApiError if the server refuses or does not answer. */
export class WhenceClient extends Connection {
  readonly #project: string | undefined;

  constructor(options: ClientOptions = {}) {
    super(options);
    this.#project = options.project;
  }

  /** An answer from the documents, with its sources and a citation for each sentence. */
  async ask(message: string, { signal, ...options }: AskOptions = {}): Promise<Answer> {
    const body = { ...this.#scope(), ...options, message, stream: false };
    const answer = await this.post<Answer | null>("/api/v1/chat", body, signal);
    if (typeof answer?.response !== "string") throw unexpected("The answer has no response.");
    return answer;
  }

  /** The same, as it is written. */
  async *stream(message: string, { signal, ...options }: AskOptions = {}): AsyncGenerator<AskEvent> {
    const body = { ...this.#scope(), ...options, message, stream: true };
    let isDone = false;
    for await (const event of this.events("/api/v1/chat", posted(body, signal))) {
      if (event.name === "error") throw failure(event.data);
      yield event as AskEvent;
      isDone ||= event.name === "done";
    }
    if (!isDone) throw unexpected("The stream ended before the answer was complete.");
  }

  /** The passages that fit a query, the best first. */
  async search(query: string, { signal, ...options }: SearchOptions = {}): Promise<SearchAnswer> {
    const body = { ...this.#scope(), ...options, query };
    return this.#data<SearchAnswer>("/api/v1/search", posted(body, signal));
  }

  /** Adds a document. Without `wait` the answer names the job that reads it. */
  async ingest(
    what: Ingestible,
    { wait = false, signal, ...options }: IngestOptions = {},
  ): Promise<Ingested> {
    const query = wait ? "?wait=true" : "";
    if (!(what instanceof File)) {
      const kind = "url" in what ? "url" : "text";
      const body = { ...this.#scope(), ...options, ...what };
      return this.#data<Ingested>(`/api/v1/ingest/${kind}${query}`, posted(body, signal));
    }
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...this.#scope(), ...options })) {
      if (value != null) form.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
    form.set("file", what);
    const init: RequestInit = { method: "POST", body: form, ...(signal && { signal }) };
    const { items } = await this.#data<Partial<Listing<Ingested>>>(`/api/v1/ingest/upload${query}`, init);
    const item = items?.[0];
    if (!item) throw unexpected("The answer is without the file.");
    if (item.error) throw new ApiError(200, item.error.code, item.error.message, item.error.details ?? {});
    return item;
  }

  /** The claims behind an object, or behind one of its properties: value, quote, page, schema version. */
  trace(objectId: string, property?: string): AsyncGenerator<Claim> {
    return this.pages<Claim>(`/api/v1/objects/${encodeURIComponent(objectId)}/provenance`, { property });
  }

  documents(query: Query = {}): AsyncGenerator<Document> {
    return this.pages<Document>("/api/v1/documents", { project_id: this.#project, ...query });
  }

  objects(query: Query = {}): AsyncGenerator<GraphObject> {
    return this.pages<GraphObject>("/api/v1/objects", { project_id: this.#project, ...query });
  }

  /** The items of any list, page after page. */
  async *pages<T>(path: string, query: Query = {}): AsyncGenerator<T> {
    for (let offset = 0; ;) {
      const given = Object.entries({ limit: PAGE, ...query, offset }).filter(
        ([, value]) => value !== undefined,
      );
      const asked = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
      const { items, pagination } = await this.#data<Partial<Listing<T>>>(`${path}?${asked}`);
      if (!Array.isArray(items) || !pagination) throw unexpected("The answer is no list.");
      yield* items;
      offset += items.length;
      if (!pagination.has_more || !items.length) return;
    }
  }

  /** What is in the envelope of an answer. */
  async #data<T extends object>(path: string, init?: RequestInit): Promise<T> {
    const answer = await this.json<{ data?: T | null } | null>(path, init);
    if (typeof answer?.data !== "object" || answer.data === null) throw unexpected("The answer has no data.");
    return answer.data;
  }

  #scope(): { projectId?: string } {
    return this.#project === undefined ? {} : { projectId: this.#project };
  }
}

interface Failure {
  error?: { code: string; message: string; details?: Record<string, unknown> };
}

function failure(data: unknown): ApiError {
  const error = (data as Failure | null)?.error;
  return error
    ? new ApiError(200, error.code, error.message, error.details)
    : unexpected("The stream has an unknown error.");
}
