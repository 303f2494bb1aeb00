import { api, ApiError, ifThere, take, type Chunk, type Schemas } from "../api/client";
import { isAt, type Place } from "./evidence";
import { useResource, type Resource } from "./resource";
import { spanOf, type Span } from "./spans";

/** A place and all that is known about it. */
export interface Found {
  place: Place;
  /** Null if the document, or that part of it, is gone. */
  span: Span | null;
  deleted: boolean;
  chunk: Chunk | null;
  claims: Schemas["StatedClaim"][];
}

/** What stands at the place; with a quote at hand, a document that is gone is an answer and no failure. */
async function look(place: Place, signal: AbortSignal): Promise<Pick<Found, "span" | "deleted">> {
  try {
    return { span: await spanOf(place, signal), deleted: false };
  } catch (error) {
    const gone = error instanceof ApiError && [400, 404, 422].includes(error.status);
    if (!gone || !place.quote) throw error;
    return { span: null, deleted: error.status === 404 };
  }
}

async function find(place: Place, signal: AbortSignal): Promise<Found> {
  const params = { path: { chunk_id: place.chunkId ?? "" } };
  const [there, chunk, claims] = await Promise.all([
    look(place, signal),
    place.chunkId ? ifThere(take(api.GET("/api/v1/chunks/{chunk_id}", { params, signal }))) : null,
    place.chunkId
      ? ifThere(
          take(
            api.GET("/api/v1/chunks/{chunk_id}/claims", {
              params: { ...params, query: { limit: 20 } },
              signal,
            }),
          ),
        )
      : null,
  ]);
  return { place, ...there, chunk, claims: claims?.items ?? [] };
}

/** What stands at a place, with its chunk and the claims made of it. */
export function useSource(place: Place): Resource<Found> {
  const found = useResource(
    (abort) => find(place, abort),
    [place.documentId, place.start, place.end, place.chunkId, place.quote],
  );
  // Several citations may share a place: what is known about it is there at once.
  const { data } = found;
  return data && isAt(data.place, place) ? { ...found, data: { ...data, place } } : found;
}
