import { computed, signal } from "@preact/signals";

/** Where the reader is. Everything that can be shared is in it. */
export const place = signal(new URL(location.href));
export const path = computed(() => place.value.pathname);
export const query = computed(() => place.value.searchParams);

type Change = Record<string, string | number | null | undefined>;

/** Goes to another page of ours; the browser's history keeps this one. */
export function go(to: string, { replace = false } = {}): void {
  const next = new URL(to, location.href);
  if (next.href === place.value.href) return;
  const away = next.pathname !== place.value.pathname;
  if (replace) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
  place.value = next;
  if (away && !replace) scrollTo(0, 0);
}

/** The present address with some of its query changed; null removes. */
export function withQuery(change: Change, pathname = place.value.pathname): string {
  const next = new URL(place.value);
  next.pathname = pathname;
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === undefined || value === "") next.searchParams.delete(name);
    else next.searchParams.set(name, String(value));
  }
  return next.pathname + next.search;
}

export function setQuery(change: Change, options?: { replace?: boolean }): void {
  go(withQuery(change), options);
}

/** The page of the menu that an address belongs to. */
export function section(here: string): string {
  const first = here.split("/")[1] ?? "";
  const aliases: Record<string, string> = { c: "/", a: "/", d: "/documents", o: "/graph" };
  return aliases[first] ?? `/${first}`;
}

/** A link to a page: keeps the project and nothing else. */
export function href(pathname: string, params: Change = {}): string {
  const search = new URLSearchParams();
  const project = query.value.get("project");
  if (project) search.set("project", project);
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${pathname}?${text}` : pathname;
}

/** Follows the browser's buttons, and links between our pages without loading anew. */
export function followLinks(): void {
  addEventListener("popstate", () => (place.value = new URL(location.href)));
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest("a");
    if (
      !link ||
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey
    )
      return;
    if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
    if (link.pathname.startsWith("/api/") || link.pathname === "/openapi.json") return;
    event.preventDefault();
    go(link.href);
  });
}
