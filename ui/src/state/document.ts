import { useEffect } from "preact/hooks";
import { api, take, type Chunk, type Document, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { query, setQuery } from "./router";
import { projectId } from "./session";

const MOST_CHUNKS = 2000;

export interface Whole {
  document: Document;
  text: Schemas["DocumentText"] | null;
  chunks: Chunk[];
}

/** A document with its text and its chunks. A link may lead to another project's: the page follows it. */
export function useDocument(id: string): Resource<Whole> {
  const found = useResource((abort) => read(id, abort), [id], { fresh: true });
  const own = found.data?.document.project_id;
  useEffect(() => {
    if (own && own !== projectId.value) setQuery({ project: own }, { replace: true });
  }, [own]);
  return found;
}

async function read(id: string, signal: AbortSignal): Promise<Whole> {
  const params = { path: { document_id: id } };
  const [document, text] = await Promise.all([
    take(api.GET("/api/v1/documents/{document_id}", { params, signal })),
    take(api.GET("/api/v1/documents/{document_id}/text", { params, signal })).catch(() => null),
  ]);
  const chunks: Chunk[] = [];
  for (let offset = 0; offset < Math.min(document.chunk_count, MOST_CHUNKS); offset += 100) {
    const paged = { ...params, query: { limit: 100, offset } };
    chunks.push(
      ...(await take(api.GET("/api/v1/documents/{document_id}/chunks", { params: paged, signal }))).items,
    );
  }
  return { document, text, chunks };
}

export function spanInAddress(): { start: number; end: number } | null {
  const found = /^(\d+)-(\d+)$/.exec(query.value.get("span") ?? "");
  return found ? { start: Number(found[1]), end: Number(found[2]) } : null;
}

export function startOf(chunk: Chunk): number {
  return Number(chunk.metadata?.startOffset ?? 0);
}

export function endOf(chunk: Chunk): number {
  return Number(chunk.metadata?.endOffset ?? 0);
}
