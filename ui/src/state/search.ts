import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import type { Place } from "./evidence";
import { query } from "./router";
import { projectId } from "./session";

export type Mode = "hybrid" | "vector" | "text";
type Answer = Schemas["SearchAnswer"];
/** A page and its document. */
type PageOf = Schemas["PageModel"] & { of: string };

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

/** Pages that are read at once, and how many a chunk may go on for after its first. */
const BLOCK = 100;
const FURTHER = 3;

/** The page on which each hit opens: its chunk may begin on an earlier one. Null where there is none, or until it is known. */
export function useHitPages(
  hits: readonly Schemas["HitModel"][],
  places: readonly Place[],
): (number | null)[] {
  const isLater = hits.map((hit, i) => (places[i]?.start ?? 0) > (hit.startOffset ?? 0));
  const wanted = new Set<string>();
  hits.forEach(({ document, page }, i) => {
    if (page === null || !isLater[i]) return;
    for (const one of [page, page + FURTHER]) wanted.add(`${document.id} ${Math.floor((one - 1) / BLOCK)}`);
  });
  const asked = [...wanted];
  const found = useResource(
    async (signal) => (await Promise.all(asked.map((one) => readBlock(one, signal)))).flat(),
    [asked],
  );
  return hits.map(({ document, page }, i) => {
    const start = places[i]?.start ?? 0;
    if (page === null || !isLater[i]) return page;
    const isIt = (one: PageOf): boolean => one.of === document.id && one.start <= start && start < one.end;
    return found.data?.find(isIt)?.page ?? null;
  });
}

async function readBlock(name: string, signal: AbortSignal): Promise<PageOf[]> {
  const [id = "", block] = name.split(" ");
  const query = { offset: Number(block) * BLOCK, limit: BLOCK };
  const params = { path: { document_id: id }, query };
  const { items } = await take(api.GET("/api/v1/documents/{document_id}/pages", { params, signal }));
  return items.map((one) => ({ ...one, of: id }));
}
