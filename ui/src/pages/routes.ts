import type { ComponentType } from "preact";
import { Ask } from "./ask/Ask";

type Part = "conversation" | "answer" | "id";
type Shown = ComponentType<Partial<Record<Part, string>>>;

/** A page under one or several addresses: it stays when the address changes from one to another of them. */
export interface Page {
  /** As the browser's tab shows it. */
  name: string;
  load: () => Promise<{ default: Shown }>;
}

/** Only Ask comes with the first load. */
const ask: Page = { name: "Ask", load: () => Promise.resolve({ default: Ask }) };
const graph: Page = { name: "Graph", load: () => import("./graph/Graph") };
const document: Page = { name: "Document", load: () => import("./document/Document") };
const lost: Page = { name: "No such page", load: () => import("./Lost") };

/** One pattern for each address, and the name of the part of it that the page takes as a property. */
const ROUTES: [RegExp, Page, Part?][] = [
  [/^\/$/, ask],
  [/^\/c\/([^/]+)$/, ask, "conversation"],
  [/^\/a\/([^/]+)$/, ask, "answer"],
  [/^\/documents$/, { name: "Documents", load: () => import("./documents/Documents") }],
  [/^\/d\/([^/]+)$/, document, "id"],
  [/^\/search$/, { name: "Search", load: () => import("./search/Search") }],
  [/^\/graph$/, graph],
  [/^\/o\/([^/]+)$/, graph, "id"],
  [/^\/schema$/, { name: "Schema", load: () => import("./schema/Schema") }],
  [/^\/jobs$/, { name: "Jobs", load: () => import("./jobs/Jobs") }],
  [/^\/projects$/, { name: "Projects and keys", load: () => import("./projects/Projects") }],
  [/^\/status$/, { name: "Status", load: () => import("./status/Status") }],
  [/^\/docs$/, { name: "API reference", load: () => import("./reference/Reference") }],
];

export function pageFor(path: string): { page: Page; props: Record<string, string> } {
  for (const [pattern, page, name] of ROUTES) {
    const found = pattern.exec(path);
    if (found) return { page, props: name ? { [name]: found[1] ?? "" } : {} };
  }
  return { page: lost, props: {} };
}
