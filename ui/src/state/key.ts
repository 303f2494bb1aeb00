import { effect, signal } from "@preact/signals";

const NAME = "whence.key";

/** The API key, kept for this tab only. */
export const key = signal<string | null>(sessionStorage.getItem(NAME));
/** The server wants a key, or another one. */
export const lockedOut = signal(false);

effect(() => {
  if (key.value === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key.value);
});
