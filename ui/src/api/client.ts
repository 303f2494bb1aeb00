import createClient from "openapi-fetch";
import { ApiError, refusal, WhenceClient, type paths } from "whence-client";
import { key, lockedOut } from "../state/key";

export { ApiError };
export type { Chunk, Citation, Claim, Document, Job, Project, Schemas, Source } from "whence-client";

/** The server that this page came from. */
export const whence = new WhenceClient({
  key: () => key.value,
  onResponse: (response) => {
    if (response.status === 401) lockedOut.value = true;
  },
});

/** Sends a request with the key; the caller reads the body. */
export const send = (request: Request): Promise<Response> => whence.send(request);

/** The typed client of the HTTP API; `take` unpacks its answers. */
export const api = createClient<paths>({ fetch: send });

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

/** What a request gives, or null if the server has no such thing. */
export async function ifThere<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Like `send`, for what the typed client cannot express: streams, files, forms. */
export const raw = (path: string, init?: RequestInit): Promise<Response> => whence.raw(path, init);

export function asError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, "PAGE_ERROR", error instanceof Error ? error.message : String(error));
}
