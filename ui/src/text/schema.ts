import { brokenAt, type TextPlace } from "./place";

export interface PropertyType {
  type?: string;
  description?: string;
}
export interface ObjectType {
  description?: string;
  properties?: Record<string, PropertyType>;
  required?: string[];
}
export interface RelationType {
  from?: string[];
  to?: string[];
  description?: string;
}
export interface Schema {
  object_types: Record<string, ObjectType>;
  relationship_types?: Record<string, RelationType>;
}

/** What is wrong with a schema, and where. */
export interface Problem {
  message: string;
  /** Such as `object_types.Thing.properties.size`; empty where the text is not JSON. */
  path: string;
  place: TextPlace | null;
}
/** The schema of a text if a form can show it; else what is wrong with the text. */
export function read(text: string): { schema: Schema | null; problem: Problem | null } {
  try {
    const given = JSON.parse(text) as Partial<Schema> | null;
    const types = given?.object_types;
    const isShown = isObject(types) && Object.values(types).every(isObject);
    return { schema: isShown ? (given as Schema) : null, problem: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { schema: null, problem: { message, path: "", place: brokenAt(text, message) } };
  }
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** The message of a problem if it is at this path or inside it. */
export function problemAt(problem: Problem | null, path: string): string | null {
  if (!problem || !path) return null;
  const inside = problem.path === path || /^[.[]/.test(problem.path.slice(path.length));
  return problem.path.startsWith(path) && inside ? problem.message : null;
}
