import { useEffect, useState } from "preact/hooks";
import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

export type Node = Schemas["ObjectModel"];
export type Edge = Schemas["RelationshipModel"];
export type Whole = Schemas["WholeGraphAnswer"];
type Detail = Schemas["ObjectAnswer"];

const LIMIT = 1000;

/** The part of the graph that the address asks for. */
export function useGraph(): Resource<Whole> {
  const type = query.value.get("type") ?? undefined;
  const name = query.value.get("q") ?? undefined;
  const params = { query: { project_id: projectId.value, type, name, limit: LIMIT } };
  return useResource(
    (signal) => take(api.GET("/api/v1/graph", { params, signal })),
    [projectId.value, type, name],
  );
}

/** Nodes and edges of the graph with the neighbours of some objects added. */
export function useNeighbours(whole: Whole | null, id: string | null): { nodes: Node[]; edges: Edge[] } {
  const [more, setMore] = useState<{ nodes: Node[]; edges: Edge[] }>({ nodes: [], edges: [] });
  useEffect(() => {
    if (!id) return;
    const params = { path: { object_id: id }, query: { limit: 100 } };
    void take(api.GET("/api/v1/objects/{object_id}/neighbours", { params })).then(
      (found) =>
        setMore((was) => ({ nodes: [...was.nodes, ...found.nodes], edges: [...was.edges, ...found.edges] })),
      () => undefined,
    );
  }, [id]);
  return {
    nodes: unique([...(whole?.nodes ?? []), ...more.nodes]),
    edges: unique([...(whole?.edges ?? []), ...more.edges]),
  };
}

function unique<T extends { id: string }>(all: T[]): T[] {
  return [...new Map(all.map((one) => [one.id, one])).values()];
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
