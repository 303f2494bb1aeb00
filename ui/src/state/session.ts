import { computed, effect, signal } from "@preact/signals";
import { api, send, take, type Project } from "../api/client";
import { key, lockedOut } from "./key";
import { go, path, query, section, setQuery } from "./router";

const DEFAULT = "00000000-0000-7000-8000-000000000001";

/** The projects that the key opens; null until they are known. */
export const projects = signal<Project[] | null>(null);
/** The project of the page: from the address, else the first one that the key opens. */
export const project = computed(() => {
  const all = projects.value ?? [];
  const wanted = query.value.get("project");
  return (
    all.find((one) => one.id === wanted || one.name === wanted) ??
    all.find((one) => one.id === DEFAULT) ??
    all[0]
  );
});
/** The project of the address if the key opens none of that name. */
export const unknown = computed(() => {
  const wanted = query.value.get("project");
  return wanted && projects.value && wanted !== project.value?.id && wanted !== project.value?.name
    ? wanted
    : null;
});
/** The id for requests: that of the address even before the projects are known. */
export const projectId = computed(() => project.value?.id ?? query.value.get("project") ?? DEFAULT);
export type Scope = "write" | "admin";
/** What the key may do. */
export const allowed = signal<Record<Scope, boolean>>({ write: true, admin: true });

/** The server checks a key before a body: an empty body is refused by scope, or else as empty, and nothing is done. */
async function may(path: string): Promise<boolean> {
  const headers = { "Content-Type": "application/json" };
  return (await send(new Request(path, { method: "POST", body: "{}", headers }))).status !== 403;
}

async function loadScopes(): Promise<void> {
  if (key.value === null) return;
  const [write, admin] = await Promise.all([may("/api/v1/ingest/text"), may("/api/v1/projects")]);
  allowed.value = { write, admin };
}

export async function loadProjects(): Promise<void> {
  const found: Project[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await take(api.GET("/api/v1/projects", { params: { query: { limit: 100, offset } } }));
    found.push(...page.items);
    if (!page.pagination.has_more) break;
  }
  await loadScopes();
  projects.value = found;
  lockedOut.value = false;
}

export function choose(id: string): void {
  const to = section(path.value);
  if (to === path.value) setQuery({ project: id === DEFAULT ? null : id, at: null });
  else go(id === DEFAULT ? to : `${to}?project=${id}`);
}

effect(() => {
  document.title =
    project.value && projects.value && projects.value.length > 1
      ? `${project.value.name} · Whence`
      : "Whence";
});

export function signOut(): void {
  key.value = null;
  projects.value = null;
  lockedOut.value = true;
}
