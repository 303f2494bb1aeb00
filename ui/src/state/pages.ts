import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, take, type Document, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { spanOf, type PageRects } from "./spans";

type PageSize = Schemas["PageModel"];

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
