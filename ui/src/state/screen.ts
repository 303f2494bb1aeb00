import { signal } from "@preact/signals";

const small = matchMedia("(width < 900px)");

/** Whether the right pane is a sheet from below. */
export const isSmall = signal(small.matches);

small.addEventListener("change", () => (isSmall.value = small.matches));

const wide = matchMedia("(width >= 2560px)");
const isWide = signal(wide.matches);

wide.addEventListener("change", () => (isWide.value = wide.matches));

/** A height in pixels, which grows with the text of very wide screens. */
export function scaled(height: number): number {
  return isWide.value ? height * 1.25 : height;
}
