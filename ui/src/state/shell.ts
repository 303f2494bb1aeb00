import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, raw } from "../api/client";
import { titled } from "../text/format";
import { path } from "./router";
import { useResource, type Resource } from "./resource";
import { project, projects } from "./session";

/** What the page shows: a conversation, a document, an object, a search. */
const subject = signal("");

/** Names what the page shows in the browser's tab. */
export function useSubject(name: string | null | undefined): void {
  useEffect(() => {
    subject.value = name ?? "";
    return () => (subject.value = "");
  }, [name]);
}

/** The browser's tab: what the page shows, the page, the project if there are several. */
export function useTitle(page: string): void {
  const several = (projects.value?.length ?? 0) > 1;
  const title = titled([subject.value, page, several ? (project.value?.name ?? "") : "", "Whence"]);
  useEffect(() => {
    document.title = title;
    return () => (document.title = "Whence");
  }, [title]);
}

/** The keyboard starts at the top of each page. */
export function usePageFocus(page: string): void {
  useEffect(() => document.getElementById("main")?.focus({ preventScroll: true }), [page]);
}

/** The code of a page. Browsers do not ask again for code that did not come: once the server answers, the page starts anew. */
export function useCode<T>(load: () => Promise<T>, page: string): Resource<T> {
  const failed = useRef<string | undefined>(undefined);
  return useResource(
    async () => {
      if (failed.current === page) {
        await raw("/healthz");
        location.reload();
      }
      try {
        return await load();
      } catch {
        failed.current = page;
        await raw("/healthz"); // a server that does not answer says so itself
        throw new ApiError(0, "PAGE_NOT_LOADED", "The server was updated. Try again to load its new pages.");
      }
    },
    [page],
    { fresh: true },
  );
}

/** A menu that another page, a click beside it and Esc close. */
export function useMenu(): RefObject<HTMLDetailsElement | null> {
  const menu = useRef<HTMLDetailsElement>(null);
  const here = path.value;
  useEffect(() => menu.current?.removeAttribute("open"), [here]);
  useEffect(() => {
    const shut = (event: Event): void => {
      const inside = menu.current?.contains(event.target as Node);
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !inside)
        menu.current?.removeAttribute("open");
    };
    document.addEventListener("click", shut);
    document.addEventListener("keydown", shut);
    return () => {
      document.removeEventListener("click", shut);
      document.removeEventListener("keydown", shut);
    };
  }, []);
  return menu;
}
