import { signal } from "@preact/signals";
import { close, shown, step } from "./evidence";

export const helpOpen = signal(false);

export const KEYS: [string, string][] = [
  ["/", "Go to the search box or the question"],
  ["?", "List these keys"],
  ["Esc", "Close the evidence pane or a dialog"],
  ["← →", "Step through the evidence"],
  ["Enter", "Ask, search, open"],
];

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

/** The keys that work on every page. */
export function listen(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (shown.value) close();
      else (document.activeElement as HTMLElement | null)?.blur();
      return;
    }
    if (typing(event.target)) return;
    if (event.key === "/") {
      const box = document.querySelector<HTMLElement>("[data-main-input]");
      if (box) {
        event.preventDefault();
        box.focus();
      }
    } else if (event.key === "?") helpOpen.value = true;
    else if (shown.value && event.key === "ArrowLeft") step(-1);
    else if (shown.value && event.key === "ArrowRight") step(1);
  });
}
