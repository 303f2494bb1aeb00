import { signal } from "@preact/signals";
import { api, raw, take, type ApiError, type Schemas } from "../api/client";
import { placeOf } from "../text/place";
import { read, type Problem, type Schema } from "../text/schema";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

const NAME = "whence.schema";

/** The schema as it is being edited, for each project; kept in the tab. Null: as stored. */
export const edited = signal<Record<string, string>>(
  JSON.parse(sessionStorage.getItem(NAME) ?? "{}") as Record<string, string>,
);
edited.subscribe((all) => sessionStorage.setItem(NAME, JSON.stringify(all)));

export function edit(text: string | null): void {
  const { [projectId.value]: _, ...others } = edited.value;
  edited.value = text === null ? others : { ...others, [projectId.value]: text };
}

/** A schema as typed: what the form can show of it, and what is wrong; `checked` once the server has said. */
export interface Checked {
  schema: Schema | null;
  problem: Problem | null;
  checked: boolean;
  /** What differs from a version; null while there is a problem. */
  changes: Schemas["SchemaDiff"] | null;
  /** Why it could not be checked. */
  error: ApiError | null;
}
const PAUSE = 300;

/** Checks a schema as it is typed, and compares it with a version: its JSON here, the rest by the server after a short pause. */
export function useChecked(text: string, from: string): Checked {
  const { schema, problem } = read(text);
  const found = useResource(
    async (signal) => {
      if (problem) return null;
      await new Promise((done) => setTimeout(done, PAUSE));
      if (signal.aborted) return null;
      return { text, from, ...(await check(text, from, signal)) };
    },
    [projectId.value, text, from],
  );
  const { error } = found;
  if (problem) return { schema, problem, checked: true, changes: null, error: null };
  const said = found.data?.text === text ? found.data : null;
  const changes = said?.from === from ? said.changes : null;
  return { schema, problem: said?.problem ?? null, checked: said !== null, changes, error };
}

type Said = Pick<Checked, "problem" | "changes">;

async function check(text: string, from: string, signal: AbortSignal): Promise<Said> {
  const params = from ? `?${new URLSearchParams({ from }).toString()}` : "";
  const path = `/api/v1/projects/${projectId.value}/schema/check${params}`;
  // As typed: an object made of it would lose names that are there twice.
  const init = { method: "POST", body: text, signal, headers: { "Content-Type": "application/json" } };
  const { data } = (await (await raw(path, init)).json()) as { data: Schemas["SchemaCheck"] };
  if (!data.problem) return { problem: null, changes: data.changes };
  const { path: at, message } = data.problem;
  return { problem: { message, path: at, place: placeOf(text, at) }, changes: null };
}

export function useSchema(): Resource<{ now: Schemas["SchemaModel"]; versions: Schemas["SchemaModel"][] }> {
  const params = { path: { project_id: projectId.value } };
  return useResource(
    async (signal) => {
      const [now, versions] = await Promise.all([
        take(api.GET("/api/v1/projects/{project_id}/schema", { params, signal })),
        take(
          api.GET("/api/v1/projects/{project_id}/schema/versions", {
            params: { ...params, query: { limit: 100 } },
            signal,
          }),
        ),
      ]);
      return { now, versions: versions.items };
    },
    [projectId.value],
    { fresh: true },
  );
}

/** What stands for the schema as it is being edited, where versions are compared. */
export const DRAFT = "draft";

/** The versions that the address compares; else the draft with the version in use, or the last two. */
export function compared(versions: readonly string[], dirty: boolean): { from: string; to: string } {
  const wanted = query.value.get("to");
  const to = wanted && (dirty || wanted !== DRAFT) ? wanted : dirty ? DRAFT : (versions[0] ?? "");
  return { from: query.value.get("from") ?? versions[to === DRAFT ? 0 : 1] ?? versions[0] ?? "", to };
}

/** What differs between two versions; null while they are not both chosen. */
export function useChanges(from: string, to: string): Resource<Schemas["SchemaDiff"] | null> {
  const params = { path: { project_id: projectId.value }, query: { from, to } };
  return useResource(
    async (signal) =>
      from && to && to !== DRAFT
        ? take(api.GET("/api/v1/projects/{project_id}/schema/diff", { params, signal }))
        : null,
    [projectId.value, from, to],
  );
}

export async function put(schema: Schema): Promise<Schemas["SchemaPut"]> {
  const params = { path: { project_id: projectId.value } };
  const body = schema as never; // The OpenAPI document describes the schema of schemas more narrowly than it is.
  return take(api.PUT("/api/v1/projects/{project_id}/schema", { params, body }));
}

export async function reextract(
  scope: "stale" | "all",
  dryRun: boolean,
): Promise<Schemas["ReextractionAnswer"]> {
  const params = { path: { project_id: projectId.value } };
  return take(api.POST("/api/v1/projects/{project_id}/reextract", { params, body: { scope, dryRun } }));
}
