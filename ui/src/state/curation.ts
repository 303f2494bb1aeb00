import { api, take, type Schemas } from "../api/client";
import type { Page } from "./paged";
import { useResource, type Resource } from "./resource";
import { projectId } from "./session";

export type Curation = Schemas["CurationModel"];
type Suggestion = Schemas["SuggestionModel"];

/** Claims of the project that differ. */
export function useConflicts(): Resource<Page<Schemas["ConflictModel"]>> {
  const params = { path: { project_id: projectId.value }, query: { limit: 100 } };
  return useResource(
    (signal) => take(api.GET("/api/v1/projects/{project_id}/conflicts", { params, signal })),
    [projectId.value],
  );
}

/** Objects of the project that may be one. */
export function useSuggestions(): Resource<Page<Suggestion>> {
  const params = { path: { project_id: projectId.value }, query: { limit: 100 } };
  return useResource(
    (signal) => take(api.GET("/api/v1/projects/{project_id}/merge-suggestions", { params, signal })),
    [projectId.value],
  );
}

/** Objects that may be this one. */
export function useSimilar(id: string): Resource<Page<Suggestion>> {
  const params = { path: { project_id: projectId.value }, query: { object: id, limit: 10 } };
  return useResource(
    (signal) => take(api.GET("/api/v1/projects/{project_id}/merge-suggestions", { params, signal })),
    [id],
  );
}

/** Objects that became part of this one. */
export function useMerged(id: string): Resource<Page<Schemas["MergeModel"]>> {
  const params = { query: { project_id: projectId.value, object_id: id, limit: 100 } };
  return useResource((signal) => take(api.GET("/api/v1/objects/merges", { params, signal })), [id]);
}

/** What people said about the project's objects and still holds. */
export function useCorrections(): Resource<Curation[]> {
  const params = { path: { project_id: projectId.value }, query: { limit: 100 } };
  return useResource(
    async (signal) =>
      activeOf((await take(api.GET("/api/v1/projects/{project_id}/curations", { params, signal }))).items),
    [projectId.value],
  );
}

/** What people said about one object and still holds. */
export function useCorrectionsOf(id: string): Resource<{ items: Curation[] }> {
  const params = { path: { object_id: id } };
  return useResource(
    async (signal) => {
      const page = await take(api.GET("/api/v1/objects/{object_id}/curations", { params, signal }));
      return { items: activeOf(page.items) };
    },
    [id],
  );
}

function activeOf(all: readonly Curation[]): Curation[] {
  return all.filter((one) => one.state === "active" && one.action !== "undo");
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
