import { computed, effect, signal } from "@preact/signals";
import { api, take, type Project } from "../api/client";
import { key, lockedOut } from "./key";
import { query, setQuery } from "./router";

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
/** The id for requests: that of the address even before the projects are known. */
export const projectId = computed(() => project.value?.id ?? query.value.get("project") ?? DEFAULT);
/** What the key may do, as far as the server has refused it. */
export const refused = signal<ReadonlySet<string>>(new Set());

export async function loadProjects(): Promise<void> {
  const found: Project[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await take(api.GET("/api/v1/projects", { params: { query: { limit: 100, offset } } }));
    found.push(...page.items);
    if (!page.pagination.has_more) break;
  }
  projects.value = found;
  lockedOut.value = false;
}

export function choose(id: string): void {
  setQuery({ project: id === DEFAULT ? null : id, at: null });
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
