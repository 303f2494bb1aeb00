import { effect, signal } from "@preact/signals";

type Theme = "auto" | "light" | "dark";
const NAME = "whence.theme";
const ORDER: Theme[] = ["auto", "light", "dark"];

function stored(): Theme {
  const found = localStorage.getItem(NAME);
  return found === "light" || found === "dark" ? found : "auto";
}

export const theme = signal<Theme>(stored());

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
