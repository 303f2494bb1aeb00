import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";

export type Stated = Schemas["StatedClaim"];
/** The claims about one object, or all those of relationships. */
export interface Group {
  id: string;
  name: string;
  isObject: boolean;
  claims: Stated[];
}
const SIZE = 100;

/** Every claim that a document makes, by object in the order in which it names them. */
export function useClaims(documentId: string): Resource<Group[]> {
  return useResource(async (signal) => grouped(await readAll(documentId, signal)), [documentId], {
    fresh: true,
  });
}

async function readAll(documentId: string, signal: AbortSignal): Promise<Stated[]> {
  const found: Stated[] = [];
  for (;;) {
    const params = { path: { document_id: documentId }, query: { limit: SIZE, offset: found.length } };
    const page = await take(api.GET("/api/v1/documents/{document_id}/claims", { params, signal }));
    found.push(...page.items);
    if (!page.pagination.has_more || page.items.length === 0) return found;
  }
}

function grouped(claims: readonly Stated[]): Group[] {
  const groups = new Map<string, Group>();
  for (const one of claims) {
    const { id, name } = one.object ?? { id: "relationships", name: "Relationships" };
    const group = groups.get(id) ?? { id, name, isObject: one.object !== null, claims: [] };
    group.claims.push(one);
    groups.set(id, group);
  }
  return [...groups.values()];
}
