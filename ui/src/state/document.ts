import { computed, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { api, ifThere, take, type ApiError, type Chunk, type Document, type Schemas } from "../api/client";
import type { Page } from "./paged";
import { live, watch } from "./progress";
import { useResource, type Resource } from "./resource";
import { query, setQuery } from "./router";
import { isSmall } from "./screen";
import { projectId } from "./session";
import { count } from "../text/format";
import { Points } from "../text/points";

const MOST_CHUNKS = 2000;

/** The chunk under the pointer, at the left or at the right; the other side shows it too. */
export const hovered = signal<string | null>(null);

/** What links both sides of a chunk when the pointer is over it. */
export function hovering(id: string): { onMouseEnter: () => void; onMouseLeave: () => void } {
  return {
    onMouseEnter: () => (hovered.value = id),
    onMouseLeave: () => (hovered.value = hovered.value === id ? null : hovered.value),
  };
}

/** The class of a chunk at either side. */
export function chunkClass(id: string, selected: string | null): string {
  return `${id === selected ? " on" : ""}${id === hovered.value ? " near" : ""}`;
}

/** Whether the right side is shown: on a small screen it is a sheet, which a tab or a click at the left opens. */
export const sideOpen = computed(() => !isSmall.value || query.value.has("tab"));

/** Selects words at the left; the right side shows their chunk. */
export function select(start: number, end: number): void {
  const tab = query.value.get("tab") ?? (isSmall.value ? "chunks" : null);
  setQuery({ span: `${start}-${end}`, v: null, tab }, { replace: true });
}

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
  const { job_id, status } = found.data?.document ?? {};
  const told = job_id ? live.value.get(job_id)?.status : undefined;
  useEffect(() => {
    if (!job_id || (status !== "pending" && status !== "processing")) return;
    if (told && told !== "pending" && told !== "processing") found.reload();
    else watch([job_id], found.reload);
  }, [job_id, status, told]);
  return found;
}

async function read(id: string, signal: AbortSignal): Promise<Whole> {
  const params = { path: { document_id: id } };
  const [document, text] = await Promise.all([
    take(api.GET("/api/v1/documents/{document_id}", { params, signal })),
    ifThere(take(api.GET("/api/v1/documents/{document_id}/text", { params, signal }))),
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

export interface Linked {
  span: { start: number; end: number } | null;
  /** Why the text does not have the span that the address names. */
  wrong: string | null;
  /** For a link that was made under an older version: what the server found. */
  old: Schemas["LinkAnswer"] | null;
  error: ApiError | null;
}

/** The span that the address names, where it is in the document's present version. */
export function useLinked({ document, text }: Pick<Whole, "document" | "text">): Linked {
  const span = query.value.get("span");
  const v = query.value.get("v");
  const isOld = span !== null && v !== null && Number(v) !== document.version;
  const found = useResource(
    async (signal) => {
      if (!isOld) return null;
      const params = { query: { document: document.id, span, v } };
      return take(api.GET("/api/v1/links/resolve", { params, signal }));
    },
    [document.id, document.version, span, v],
    { fresh: true },
  );
  const wrong = useMemo(
    () => (span === null || isOld || !text ? null : wrongSpan(span, text.text)),
    [span, isOld, text],
  );
  if (isOld) return { span: found.data?.span ?? null, wrong, old: found.data, error: found.error };
  return { span: readSpan(span), wrong, old: null, error: null };
}

function readSpan(span: string | null): { start: number; end: number } | null {
  const here = /^(\d+)-(\d+)$/.exec(span ?? "");
  return here && { start: Number(here[1]), end: Number(here[2]) };
}

/** Why a text does not have a span; null if it has. */
function wrongSpan(span: string, text: string): string | null {
  const here = readSpan(span);
  if (!here || here.start >= here.end)
    return `The address names no words: “${span}” is no span such as 120-240.`;
  const { length } = new Points(text);
  if (here.end <= length) return null;
  const [first, last] = [here.start + 1, here.end].map((n) => n.toLocaleString("en"));
  return `The address names the characters ${first} to ${last}, but the text has ${count(length, "character")}.`;
}

export function startOf(chunk: Chunk): number {
  return Number(chunk.metadata?.startOffset ?? 0);
}

export function endOf(chunk: Chunk): number {
  return Number(chunk.metadata?.endOffset ?? 0);
}

/** An earlier version of a document, where the address names one. */
export function useOldVersion(
  document: Document,
): Resource<Schemas["DocumentVersionText"] | null> & { isWanted: boolean } {
  const version = query.value.get("version");
  const isWanted = version !== null && version !== String(document.version);
  const found = useResource(
    async (signal) => {
      if (!isWanted) return null;
      // Any text: the server says what is wrong with it.
      const params = { path: { document_id: document.id, version: version as unknown as number } };
      return take(api.GET("/api/v1/documents/{document_id}/versions/{version}", { params, signal }));
    },
    [document.id, document.version, version],
    { fresh: true },
  );
  return { ...found, isWanted };
}

/** The numbered versions of a document, the newest first. */
export function useVersions({ id, version }: Document): Resource<Page<Schemas["DocumentVersion"]>> {
  const params = { path: { document_id: id }, query: { limit: 50 } };
  return useResource(
    (signal) => take(api.GET("/api/v1/documents/{document_id}/versions", { params, signal })),
    [id, version],
  );
}
