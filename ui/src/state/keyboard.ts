import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { close, shown, step } from "./evidence";
import { lockedOut } from "./key";
import { closePanel } from "./panel";
import { go, href, path } from "./router";

export const helpOpen = signal(false);

export const KEYS: [string, string][] = [
  ["/", "Go to the search box or the question; without one, search"],
  ["Ctrl K, ⌘ K", "Search, from every page"],
  ["?", "List these keys"],
  ["Esc", "Close the pane at the right or a dialog"],
  ["← →", "Step through the evidence"],
  ["Enter", "Ask, search, open"],
];

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

/** Goes to the page's search box or question, if it has one. */
export function focusMain(): boolean {
  const box = document.querySelector<HTMLElement>("[data-main-input]");
  box?.focus();
  return box !== null;
}

/** Goes there when the page comes up, if `wanted`. */
export function useMainFocus(wanted: boolean): void {
  useEffect(() => {
    if (wanted) focusMain();
  }, []);
}

/** The keys that work on every page. */
export function listen(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "k" && !lockedOut.value) {
      event.preventDefault();
      if (path.value !== "/search") go(href("/search"));
      else focusMain();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (shown.value) close();
      else if (typing(event.target) || !closePanel()) (document.activeElement as HTMLElement | null)?.blur();
      return;
    }
    if (typing(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      if (!focusMain()) go(href("/search"));
    } else if (event.key === "?") helpOpen.value = true;
    else if (shown.value && event.key === "ArrowLeft") step(-1);
    else if (shown.value && event.key === "ArrowRight") step(1);
  });
}
