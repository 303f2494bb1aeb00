import createClient from "openapi-fetch";
import { key, lockedOut } from "../state/key";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Chunk = Schemas["ChunkModel"];
export type Claim = Schemas["ClaimModel"];
export type Citation = Schemas["ChatCitation"];
export type Document = Schemas["DocumentModel"];
export type Job = Schemas["JobModel"];
export type Project = Schemas["ProjectModel"];
export type Source = Schemas["ChatSource"];

/** A refusal of the server, or its silence. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

const SILENT = new ApiError(0, "OFFLINE", "The server does not answer. Is it running?");

/** The typed client of the HTTP API; `take` unpacks its answers. */
export const api = createClient<paths>({ fetch: (request) => send(request) });

interface Answered {
  data?: unknown;
  error?: unknown;
  response: Response;
}
type Inner<Body> = Body extends { data: infer D } ? D : never;
type DataOf<T> = T extends { data?: infer Body } ? Inner<Body> : never;

/** The `data` of an answer, or an ApiError. */
export async function take<T extends Answered>(call: Promise<T>): Promise<DataOf<T>> {
  const answer = await call;
  if (!answer.response.ok) throw refusal(answer.response, answer.error);
  return (answer.data as { data: DataOf<T> }).data;
}

/** Sends a request with the key; the caller reads the body. */
export async function send(request: Request): Promise<Response> {
  if (key.value) request.headers.set("Authorization", `Bearer ${key.value}`);
  try {
    const response = await fetch(request);
    if (response.status === 401) lockedOut.value = true;
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw SILENT;
  }
}

/** Like `send`, for what the typed client cannot express: streams, files, forms. */
export async function raw(path: string, init?: RequestInit): Promise<Response> {
  const response = await send(new Request(path, init));
  if (!response.ok) throw refusal(response, await response.json().catch(() => null));
  return response;
}

function refusal(response: Response, body: unknown): ApiError {
  const error = (
    body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null
  )?.error;
  return new ApiError(
    response.status,
    error?.code ?? "HTTP_ERROR",
    error?.message ?? `The server answered ${response.status}.`,
    error?.details,
    response.headers.get("x-request-id"),
  );
}

export function asError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, "PAGE_ERROR", error instanceof Error ? error.message : String(error));
}
