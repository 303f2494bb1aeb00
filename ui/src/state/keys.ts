import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";

export type Key = Schemas["KeyModel"];

/** All keys, the newest first. */
export function useKeys(): Resource<Key[]> {
  return useResource(readAll, []);
}

async function readAll(signal: AbortSignal): Promise<Key[]> {
  const found: Key[] = [];
  for (;;) {
    const query = { limit: 100, offset: found.length };
    const page = await take(api.GET("/api/v1/keys", { params: { query }, signal }));
    found.push(...page.items);
    if (!page.pagination.has_more) return found.reverse();
  }
}

/** The answer holds the key itself, which the server never shows again. */
export function createKey(body: Schemas["KeyCreate"]): Promise<Schemas["KeyCreated"]> {
  return take(api.POST("/api/v1/keys", { body }));
}

export async function revokeKey(id: string): Promise<void> {
  await take(api.DELETE("/api/v1/keys/{key_id}", { params: { path: { key_id: id } } }));
}
