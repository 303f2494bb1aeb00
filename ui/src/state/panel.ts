import { useLayoutEffect } from "preact/hooks";
import { go } from "./router";

/** Where closing the right pane of a list leads; null where there is none. */
let closed: string | null = null;
/** What opened it: the focus goes back to it. */
let opener: HTMLElement | null = null;

/** Lets Esc close the pane; `to` is the address without it, null while it is not open. */
export function usePanel(to: string | null): void {
  // Before the pane is painted: Esc works as soon as the pane is visible.
  useLayoutEffect(() => {
    closed = to;
    if (to === null) return;
    const active = document.activeElement?.closest<HTMLElement>("main a, main button");
    if (active && !active.closest(".object-panel")) opener = active;
    return () => (closed = null);
  }, [to]);
}

/** Closes the pane, if there is one. */
export function closePanel(): boolean {
  if (closed === null) return false;
  go(closed);
  opener?.focus();
  opener = null;
  return true;
}
