import { signal } from "@preact/signals";
import { api, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
import { projectId } from "./session";

export interface PropertyType {
  type?: string;
  description?: string;
}
export interface ObjectType {
  description?: string;
  properties?: Record<string, PropertyType>;
  required?: string[];
}
export interface Schema {
  object_types: Record<string, ObjectType>;
  relationship_types?: Record<string, { from?: string[]; to?: string[]; description?: string }>;
}

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

/** What is wrong with a schema as typed, or null; the server checks the rest. */
export function problem(text: string): string | null {
  try {
    const given = JSON.parse(text) as Partial<Schema> | null;
    if (typeof given !== "object" || given === null) return "A schema is a JSON object.";
    if (typeof given.object_types !== "object" || given.object_types === null)
      return "`object_types` is missing.";
    const known = Object.keys(given.object_types);
    for (const [name, one] of Object.entries(given.relationship_types ?? {})) {
      const stray = [...(one.from ?? []), ...(one.to ?? [])].find(
        (type) => type !== "*" && !known.includes(type),
      );
      if (stray) return `\`${name}\` names the type \`${stray}\`, which is not in \`object_types\`.`;
    }
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
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
