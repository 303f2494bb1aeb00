import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

export type Mode = "hybrid" | "vector" | "text";
type Answer = Schemas["SearchAnswer"];

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
