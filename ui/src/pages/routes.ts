import type { ComponentType } from "preact";
import { Ask } from "./ask/Ask";

type Shown = ComponentType<Partial<Record<"conversation" | "answer" | "id", string>>>;
type Load = () => Promise<{ default: Shown }>;

/** Each page takes the part of its path as a property, if any. */
const ask: Load = () => Promise.resolve({ default: Ask });

/** One pattern for each page, and the name of its part. Only Ask comes with the first load. */
const ROUTES: [RegExp, Load, ("conversation" | "answer" | "id")?][] = [
  [/^\/$/, ask],
  [/^\/c\/([^/]+)$/, ask, "conversation"],
  [/^\/a\/([^/]+)$/, ask, "answer"],
  [/^\/documents$/, () => import("./documents/Documents")],
  [/^\/d\/([^/]+)$/, () => import("./document/Document"), "id"],
  [/^\/search$/, () => import("./search/Search")],
  [/^\/graph$/, () => import("./graph/Graph")],
  [/^\/o\/([^/]+)$/, () => import("./graph/Graph"), "id"],
  [/^\/schema$/, () => import("./schema/Schema")],
  [/^\/jobs$/, () => import("./jobs/Jobs")],
  [/^\/projects$/, () => import("./projects/Projects")],
  [/^\/status$/, () => import("./status/Status")],
  [/^\/docs$/, () => import("./reference/Reference")],
];
const lost: Load = () => import("./Lost");

export function pageFor(path: string): { page: Load; props: Record<string, string> } {
  for (const [pattern, page, name] of ROUTES) {
    const found = pattern.exec(path);
    if (found) return { page, props: name ? { [name]: found[1] ?? "" } : {} };
  }
  return { page: lost, props: {} };
}
