// The script of every page: the theme button, showing uncaught errors to the visitor, and keeping the demos for visits without a
// network.

import { ensureLanguage } from "./language.js";
import { keepDemos } from "./offline.js";
import { errorText } from "./printed.js";

ensureLanguage();

const kThemes = ["auto", "light", "dark"] as const;

type Theme = (typeof kThemes)[number];

/** The event on `document` after the colors have changed, for canvases that need to be redrawn. */
export const kThemeChanged = "themechanged";

/** Shows an error above the page's content; null hides it. */
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

// Reading one makes the browser compute the style of the whole page.
const colors = new Map<string, string>();

/** The value of a color token of style.css in the current theme, for a canvas. */
export function color(token: string): string {
  const known = colors.get(token);
  if (known !== undefined) return known;
  const probe = document.createElement("i");
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  colors.set(token, value);
  return value;
}

// In a browser that is configured to store nothing, even the access throws.
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
  button.title = `Colors: ${theme}`;
  button.setAttribute("aria-label", `Colors: ${theme}`);
  colors.clear();
  document.dispatchEvent(new Event(kThemeChanged));
}

function nextTheme(): void {
  const now = kThemes.indexOf(document.documentElement.dataset.theme as Theme);
  const theme = kThemes[(now + 1) % kThemes.length] ?? "auto";
  storage()?.setItem("theme", theme);
  applyTheme(theme);
}

// A list of pages closes when something else is pressed, and on Escape.
function closeMenus(event: Event): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
    if (!menu.contains(event.target as Node)) menu.open = false;
  }
}

function closeOnEscape({ key }: KeyboardEvent): void {
  const menu = document.querySelector<HTMLDetailsElement>("details.menu[open]");
  if (key !== "Escape" || menu === null) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
}

applyTheme(storedTheme());
addEventListener("pointerdown", closeMenus);
addEventListener("focusin", closeMenus);
addEventListener("keydown", closeOnEscape);
byId("theme").addEventListener("click", nextTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  applyTheme(storedTheme()),
);
addEventListener("error", (event) => showError(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => showError(event.reason));
addEventListener("load", () => void keepDemos(byId("offline-note")));
