import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, raw } from "../api/client";
import { path } from "./router";
import { useResource, type Resource } from "./resource";

/** The keyboard starts at the top of each page. */
export function usePageFocus(page: string | undefined): void {
  useEffect(() => document.getElementById("main")?.focus({ preventScroll: true }), [page]);
}

/** The code of a page. Browsers do not ask again for code that did not come: once the server answers, the page starts anew. */
export function useCode<T>(load: () => Promise<T>, page: string | undefined): Resource<T> {
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
        const message = "This page did not load: the server does not answer, or it was updated meanwhile.";
        throw new ApiError(0, "PAGE_NOT_LOADED", message);
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
