import { api, take, type Chunk, type Document, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";

const CHUNKS = 10;

export interface Beginning {
  document: Document;
  /** The first page of a PDF. */
  page: Schemas["PageModel"] | null;
  chunks: Chunk[];
}

/** How a document begins. */
export function usePreview(id: string): Resource<Beginning> {
  return useResource((signal) => read(id, signal), [id], { fresh: true });
}

async function read(id: string, signal: AbortSignal): Promise<Beginning> {
  const params = { path: { document_id: id } };
  const document = await take(api.GET("/api/v1/documents/{document_id}", { params, signal }));
  const [pages, chunks] = await Promise.all([
    document.file_type === "application/pdf" && document.page_count
      ? take(
          api.GET("/api/v1/documents/{document_id}/pages", {
            params: { ...params, query: { limit: 1 } },
            signal,
          }),
        )
      : null,
    take(
      api.GET("/api/v1/documents/{document_id}/chunks", {
        params: { ...params, query: { limit: CHUNKS } },
        signal,
      }),
    ),
  ]);
  return { document, page: pages?.items[0] ?? null, chunks: chunks.items };
}
