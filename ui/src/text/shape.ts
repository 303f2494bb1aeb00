/** As much of JSON Schema as the server's OpenAPI document uses. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** Schemas by their names. */
export type Shapes = Record<string, JsonSchema>;

function alternatives(of: JsonSchema): JsonSchema[] {
  return [...(of.anyOf ?? []), ...(of.oneOf ?? []), ...(of.allOf ?? [])];
}

function nameOf({ $ref }: JsonSchema): string | undefined {
  return $ref?.split("/").at(-1);
}

/** A type as a person would write it: `list of ChatSource | null`. */
export function typeOf(of: JsonSchema): string {
  const given = of.enum ?? ("const" in of ? [of.const] : null);
  if (given) return given.map((one) => JSON.stringify(one)).join(" | ");
  const others = alternatives(of);
  if (others.length > 0) return [...new Set(others.map(typeOf))].join(" | ");
  if (of.type === "array") return of.items ? `list of ${typeOf(of.items)}` : "list";
  return nameOf(of) ?? of.format ?? of.type ?? "any value";
}

/** The names of the schemas that a schema refers to. */
export function named(of: JsonSchema): string[] {
  const parts = [...alternatives(of), ...(of.items ? [of.items] : []), ...Object.values(of.properties ?? {})];
  return [...new Set([nameOf(of) ?? [], ...parts.map(named)].flat())];
}
