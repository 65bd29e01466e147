// What every page does: the theme button, and errors that nobody caught, where a visitor sees them.

import { errorText } from "./printed.js";

const kThemes = ["auto", "light", "dark"] as const;

type Theme = (typeof kThemes)[number];

/** Event on `document` after the colours changed, for what is drawn by hand. */
export const kThemeChanged = "themechanged";

/** Shows an error above the page's content; null takes it away. */
export function showError(error: unknown): void {
  const alert = byId("alert");
  alert.hidden = error === null;
  alert.textContent = error === null ? "" : errorText(error);
}

/** The element with this id; it must exist. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`this page has no element #${id}`);
  return element as T;
}

/** The value of a colour token of style.css in the present theme, for a canvas. */
export function color(token: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

// Where a browser is told to keep nothing, to ask is an error.
function storage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

function storedTheme(): Theme {
  const stored = storage()?.getItem("theme");
  return kThemes.find((theme) => theme === stored) ?? "auto";
}

function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  button.title = `Colours: ${theme}`;
  button.setAttribute("aria-label", `Colours: ${theme}`);
  document.dispatchEvent(new Event(kThemeChanged));
}

function nextTheme(): void {
  const now = kThemes.indexOf(document.documentElement.dataset.theme as Theme);
  const theme = kThemes[(now + 1) % kThemes.length] ?? "auto";
  storage()?.setItem("theme", theme);
  applyTheme(theme);
}

applyTheme(storedTheme());
byId("theme").addEventListener("click", nextTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  applyTheme(storedTheme()),
);
addEventListener("error", (event) => showError(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => showError(event.reason));
