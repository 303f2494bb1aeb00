import { useEffect, useMemo, useState } from "preact/hooks";
import { api, ifThere, take, type Schemas } from "../api/client";
import { usePaged, type Paged } from "./paged";
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

/** A value as typed: JSON where it is JSON, else text. */
export function typed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The objects that the address asks for, as rows; they are read again when `turn` changes. */
export function useObjects(turn: number): Paged<ObjectRow> {
  const type = query.value.get("type") ?? undefined;
  const name = query.value.get("q") ?? undefined;
  const list = usePaged<ObjectRow>(
    (offset, limit, signal) =>
      take(
        api.GET("/api/v1/objects", {
          params: { query: { project_id: projectId.value, type, name, sort: "name", limit, offset } },
          signal,
        }),
      ),
    [projectId.value, type, name],
  );
  useEffect(() => {
    if (turn > 0) list.reload();
  }, [turn]);
  return list;
}

export function useRelationships(id: string): Resource<Schemas["Listing_RelationshipModel_"]> {
  const params = { query: { object_id: id, limit: 100, project_id: projectId.value } };
  return useResource((signal) => take(api.GET("/api/v1/relationships", { params, signal })), [id]);
}

/** The objects of the chunks that the facts name. */
export function useNamedObjects(chunks: string[], facts: string): Resource<{ id: string; name: string }[]> {
  return useResource(
    async (signal) => {
      const pages = await Promise.all(
        chunks.slice(0, 10).map((id) => {
          const params = { path: { chunk_id: id }, query: { limit: 50 } };
          return ifThere(take(api.GET("/api/v1/chunks/{chunk_id}/objects", { params, signal })));
        }),
      );
      const all = pages.flatMap((page) => page?.items ?? []);
      return unique(all, (one) => one.id).filter((one) => facts.includes(one.name));
    },
    [chunks, facts],
  );
}
