import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { path } from "./router";

/** The keyboard starts at the top of each page. */
export function usePageFocus(page: string | undefined): void {
  useEffect(() => document.getElementById("main")?.focus({ preventScroll: true }), [page]);
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
