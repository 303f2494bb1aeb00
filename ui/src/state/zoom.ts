import { computed, signal } from "@preact/signals";

const NAME = "whence.zoom";
const STEPS = [1, 1.5, 2, 3];

const index = signal(Math.max(0, STEPS.indexOf(Number(sessionStorage.getItem(NAME)))));
/** How large pages are drawn, for the whole tab; 1 fits the width. */
export const zoom = computed(() => STEPS[index.value] ?? 1);
zoom.subscribe((now) => sessionStorage.setItem(NAME, String(now)));

/** Whether pages can be drawn larger (1) or smaller (-1). */
export function canZoom(by: 1 | -1): boolean {
  return STEPS[index.value + by] !== undefined;
}

export function zoomBy(by: 1 | -1): void {
  if (canZoom(by)) index.value += by;
}
