import { raw } from "../api/client";
import type { JsonSchema, Shapes } from "../text/shape";
import { useResource, type Resource } from "./resource";

export interface Operation {
  tags?: string[];
  summary?: string;
  description?: string;
  operationId: string;
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: { type?: string; format?: string };
  }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema?: JsonSchema }> }>;
}
export interface OpenApi {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Shapes };
}

/** The server's own OpenAPI document. */
export function useReference(): Resource<OpenApi> {
  return useResource(
    async (signal) => (await (await raw("/openapi.json", { signal })).json()) as OpenApi,
    [],
  );
}
