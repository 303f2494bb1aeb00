import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import type { Place } from "./evidence";
import { query } from "./router";
import { projectId } from "./session";

export type Mode = "hybrid" | "vector" | "text";
type Answer = Schemas["SearchAnswer"];
type PageSpan = Schemas["PageModel"];

/** Hits at first and for each step; the server gives at most 100 at once. */
export const STEP = 30;
export const MOST = 100;

/** What to search for, and how. */
export interface Wanted {
  q: string;
  mode: Mode;
  floor: boolean;
  type: string;
  since: string;
  around: boolean;
  limit: number;
}

/** What the address asks for. */
export function wantedHits(): Wanted {
  const value = (name: string): string => query.value.get(name) ?? "";
  return {
    q: value("q"),
    mode: (query.value.get("mode") ?? "hybrid") as Mode,
    floor: value("floor") !== "off",
    type: value("type"),
    since: value("since"),
    around: value("context") === "on",
    limit: Math.min(Math.max(Number(value("n")) || STEP, 1), MOST),
  };
}

/** The hits; null without a question. */
export function useHits(wanted: Wanted): Resource<Answer | null> {
  const { q, mode, floor, type, since, around, limit } = wanted;
  const body = {
    projectId: projectId.value,
    query: q,
    mode,
    floor,
    limit,
    filters: { fileTypes: type ? [type] : [], created: since ? { from: since } : null },
    expand: around ? { positionalCount: 1, semanticChunkCount: 0, relatedObjectCount: 5 } : null,
  };
  return useResource(
    async (signal) => (q === "" ? null : take(api.POST("/api/v1/search", { body, signal }))),
    [projectId.value, wanted],
  );
}

/** The chunks nearest to a question, however far they are. */
export function useNearest(question: string): Resource<Answer> {
  const body = { projectId: projectId.value, query: question, floor: false, limit: 3 };
  return useResource(
    (signal) => take(api.POST("/api/v1/search", { body, signal })),
    [projectId.value, question],
  );
}

/** The page on which each hit opens: its chunk may begin on an earlier one. Null where there is none, or until it is known. */
export function useHitPages(
  hits: readonly Schemas["HitModel"][],
  places: readonly Place[],
): (number | null)[] {
  const isLater = hits.map((hit, i) => (places[i]?.start ?? 0) > (hit.startOffset ?? 0));
  const wanted = new Map<string, [first: number, last: number]>();
  hits.forEach(({ document, page }, i) => {
    if (page === null || !isLater[i]) return;
    const [first, last] = wanted.get(document.id) ?? [page, page];
    wanted.set(document.id, [Math.min(first, page), Math.max(last, page)]);
  });
  const read = async (id: string, first: number, last: number, signal: AbortSignal): Promise<PageSpan[]> => {
    const query = { offset: first - 1, limit: Math.min(last - first + 4, 100) };
    const params = { path: { document_id: id }, query };
    return (await take(api.GET("/api/v1/documents/{document_id}/pages", { params, signal }))).items;
  };
  const asked = [...wanted].map(([id, [first, last]]) => ({ id, first, last }));
  const found = useResource(
    async (signal) =>
      new Map(
        await Promise.all(
          asked.map(async ({ id, first, last }) => [id, await read(id, first, last, signal)] as const),
        ),
      ),
    [asked],
  );
  return hits.map(({ document, page }, i) => {
    const start = places[i]?.start ?? 0;
    if (page === null || !isLater[i]) return page;
    return found.data?.get(document.id)?.find((one) => one.start <= start && start < one.end)?.page ?? null;
  });
}
