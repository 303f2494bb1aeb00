import { signal } from "@preact/signals";

const small = matchMedia("(width < 900px)");

/** Whether the right pane is a sheet from below. */
export const isSmall = signal(small.matches);

small.addEventListener("change", () => (isSmall.value = small.matches));
