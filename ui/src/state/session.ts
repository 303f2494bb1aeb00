import { batch, computed, signal } from "@preact/signals";
import { api, take, type Project, type Schemas } from "../api/client";
import { key, lockedOut } from "./key";
import { go, path, query, section, setQuery } from "./router";

/** The project that is always there. */
export const DEFAULT = "00000000-0000-7000-8000-000000000001";

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
/** What the key may do; null until it is known. */
export const me = signal<Schemas["Me"] | null>(null);
export type Scope = Schemas["Me"]["scope"];
const SCOPES: Scope[] = ["read", "write", "admin"];

/** What a button needs: a scope, or `admin` with a key that opens all projects. */
export type Needed = Scope | "server";

export function may(needed: Needed): boolean {
  if (me.value === null) return false;
  if (needed === "server") return may("admin") && me.value.project_id === null;
  return SCOPES.indexOf(me.value.scope) >= SCOPES.indexOf(needed);
}

async function allProjects(): Promise<Project[]> {
  const found: Project[] = [];
  for (;;) {
    const query = { limit: 100, offset: found.length };
    const page = await take(api.GET("/api/v1/projects", { params: { query } }));
    found.push(...page.items);
    if (!page.pagination.has_more) return found;
  }
}

export async function loadProjects(): Promise<void> {
  const [known, found] = await Promise.all([take(api.GET("/api/v1/me")), allProjects()]);
  batch(() => {
    me.value = known;
    projects.value = found;
    lockedOut.value = false;
  });
}

export function choose(id: string): void {
  const to = section(path.value);
  if (to === path.value) setQuery({ project: id === DEFAULT ? null : id, at: null });
  else go(id === DEFAULT ? to : `${to}?project=${id}`);
}

export function signOut(): void {
  key.value = null;
  projects.value = null;
  me.value = null;
  lockedOut.value = true;
}
