import { useEffect, useMemo, useState } from "preact/hooks";
import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

export type ObjectRow = Schemas["ObjectModel"];
type Detail = Schemas["ObjectAnswer"];
/** What is drawn of an object. */
export interface Node {
  id: string;
  type: string;
  name: string;
}
/** Source and target. */
export type Edge = readonly [string, string];
export interface Drawing {
  nodes: Node[];
  edges: Edge[];
  /** Objects that match; more than are drawn where there are too many. */
  total: number;
  types: Record<string, number>;
}

/** The part of the graph that the address asks for, at most 5,000 objects. */
export function useGraph(): Resource<Drawing> {
  const type = query.value.get("type") ?? undefined;
  const name = query.value.get("q") ?? undefined;
  const params = { query: { project_id: projectId.value, type, name } };
  return useResource(
    async (signal) => {
      const found = await take(api.GET("/api/v1/graph/outline", { params, signal }));
      const nodes = found.nodes.map(([id = "", type = "", name = ""]) => ({ id, type, name }));
      const edges = found.edges.map(([from = 0, to = 0]): Edge => [
        nodes[from]?.id ?? "",
        nodes[to]?.id ?? "",
      ]);
      return { ...found, nodes, edges };
    },
    [projectId.value, type, name],
  );
}

/** Nodes and edges of the graph with the neighbours of chosen objects added. */
export function useNeighbours(whole: Drawing, id: string | null): { nodes: Node[]; edges: Edge[] } {
  const [more, setMore] = useState<{ nodes: Node[]; edges: Edge[] }>({ nodes: [], edges: [] });
  useEffect(() => {
    if (!id) return;
    const params = { path: { object_id: id }, query: { limit: 100 } };
    void take(api.GET("/api/v1/objects/{object_id}/neighbours", { params })).then(
      (found) => {
        const edges = found.edges.map((one): Edge => [one.source_id, one.target_id]);
        setMore((was) => ({ nodes: [...was.nodes, ...found.nodes], edges: [...was.edges, ...edges] }));
      },
      () => undefined,
    );
  }, [id]);
  return useMemo(
    () => ({
      nodes: unique([...whole.nodes, ...more.nodes], (one) => one.id),
      edges: unique([...whole.edges, ...more.edges], String),
    }),
    [whole, more],
  );
}

function unique<T>(all: T[], name: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [name(one), one])).values()];
}

export function useObject(id: string): Resource<Detail> {
  const params = { path: { object_id: id } };
  return useResource((signal) => take(api.GET("/api/v1/objects/{object_id}", { params, signal })), [id], {
    fresh: true,
  });
}

export async function correct(id: string, property: string, value: unknown, reason: string): Promise<void> {
  const params = { path: { object_id: id } };
  await take(
    api.PATCH("/api/v1/objects/{object_id}", {
      params,
      body: { set: { [property]: value }, reason: reason || null },
    }),
  );
}

export async function rejectClaim(id: string, claim: string): Promise<void> {
  const params = { path: { object_id: id, claim_id: claim } };
  await take(api.DELETE("/api/v1/objects/{object_id}/claims/{claim_id}", { params }));
}

export async function rejectObject(id: string): Promise<void> {
  await take(api.DELETE("/api/v1/objects/{object_id}", { params: { path: { object_id: id } } }));
}

export async function undo(curation: string): Promise<void> {
  await take(
    api.POST("/api/v1/curations/{curation_id}/undo", {
      params: { path: { curation_id: curation } },
      body: {},
    }),
  );
}

export async function undoMerge(merge: string): Promise<void> {
  const params = { path: { merge_id: merge } };
  await take(api.POST("/api/v1/objects/merges/{merge_id}/undo", { params }));
}

export async function settle(suggestion: string, verdict: "accept" | "dismiss"): Promise<void> {
  const params = { path: { project_id: projectId.value, suggestion_id: suggestion } };
  if (verdict === "accept")
    await take(
      api.POST("/api/v1/projects/{project_id}/merge-suggestions/{suggestion_id}/accept", { params }),
    );
  else
    await take(
      api.POST("/api/v1/projects/{project_id}/merge-suggestions/{suggestion_id}/dismiss", { params }),
    );
}

/** A value as typed: JSON where it is JSON, else text. */
export function typed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
