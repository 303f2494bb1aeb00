import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, take, type Chunk, type Document, type Schemas } from "../api/client";
import { blocks, type Box } from "../text/blocks";
import { endOf, startOf } from "./document";
import { useResource, type Resource } from "./resource";
import { spanOf, type PageRects } from "./spans";

export type PageSize = Schemas["PageModel"];

/** The sizes of a document's pages, those near the view, and the rectangles of a span. */
export function usePages(
  document: Document,
  span: { start: number; end: number } | null,
): {
  sizes: Resource<PageSize[]>;
  marked: Resource<PageRects[]>;
  near: ReadonlySet<number>;
  watch: (element: HTMLElement | null) => void;
} {
  const sizes = useResource((signal) => readSizes(document.id, signal), [document.id, document.version]);
  const marked = useResource(
    async (signal) => (span ? (await spanOf({ documentId: document.id, ...span }, signal)).pages : []),
    [document.id, document.version, span],
  );
  const [near, setNear] = useState<ReadonlySet<number>>(new Set([1]));
  const observer = useRef<IntersectionObserver | null>(null);
  const watch = useCallback((element: HTMLElement | null) => {
    observer.current ??= new IntersectionObserver(
      (entries) => {
        const seen = entries
          .filter((one) => one.isIntersecting)
          .map((one) => Number((one.target as HTMLElement).dataset.page));
        if (seen.length) setNear((was) => new Set([...was, ...seen]));
      },
      { rootMargin: "600px" },
    );
    if (element) observer.current.observe(element);
  }, []);
  useEffect(() => () => observer.current?.disconnect(), []);
  return { sizes, marked, near, watch };
}

async function readSizes(id: string, signal: AbortSignal): Promise<PageSize[]> {
  const found: PageSize[] = [];
  for (let offset = 0; ; offset += 100) {
    const params = { path: { document_id: id }, query: { limit: 100, offset } };
    const data = await take(api.GET("/api/v1/documents/{document_id}/pages", { params, signal }));
    found.push(...data.items);
    if (!data.pagination.has_more) return found;
  }
}

/** A chunk's part of a page: its span there, and the boxes around its lines. */
export interface Border {
  chunk: Chunk;
  start: number;
  end: number;
  boxes: Box[];
}
const AT_ONCE = 100;

/** Where the chunks of a page are on it. */
export function useBorders(document: Document, size: PageSize, chunks: readonly Chunk[]): Border[] {
  const parts = chunks
    .filter((one) => startOf(one) < size.end && endOf(one) > size.start)
    .map((chunk) => ({
      chunk,
      start: Math.max(startOf(chunk), size.start),
      end: Math.min(endOf(chunk), size.end),
    }));
  const found = useResource(
    async (signal) => {
      const borders: Border[] = [];
      for (let first = 0; first < parts.length; first += AT_ONCE)
        borders.push(
          ...(await readBorders(document, size.page, parts.slice(first, first + AT_ONCE), signal)),
        );
      return borders;
    },
    [document.id, document.version, size.page, parts.map((one) => one.chunk.id)],
  );
  return found.data ?? [];
}

async function readBorders(
  document: Document,
  page: number,
  parts: Omit<Border, "boxes">[],
  signal: AbortSignal,
): Promise<Border[]> {
  const items = parts.map(({ start, end }) => ({ documentId: document.id, start, end }));
  const body = { projectId: document.project_id, items };
  const found = await take(api.POST("/api/v1/evidence", { body, signal }));
  const rects = found.items.map((one) => one.span?.pages.find((on) => on.page === page)?.rects ?? []);
  return parts.map((part, i) => ({ ...part, boxes: blocks(rects[i] ?? [], rects.toSpliced(i, 1).flat()) }));
}
