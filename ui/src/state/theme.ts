import { computed, effect, signal } from "@preact/signals";

type Theme = "auto" | "light" | "dark";
const NAME = "whence.theme";
const ORDER: Theme[] = ["auto", "light", "dark"];

function stored(): Theme {
  const found = localStorage.getItem(NAME);
  return found === "light" || found === "dark" ? found : "auto";
}

export const theme = signal<Theme>(stored());
const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (event) => (systemDark.value = event.matches));
/** Whether the page is dark now. */
export const dark = computed(() => (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

effect(() => {
  if (theme.value === "auto") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(NAME);
  } else {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem(NAME, theme.value);
  }
});

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "auto";
}
