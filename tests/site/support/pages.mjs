// The built site: its pages, and the errors that a page reports.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../../js/support/files.mjs";

/** The folder that `npm run site` writes. */
export const kSite = join(kRoot, "build", "site");

/** Whether the site has been built completely. */
export function hasSite() {
  return existsSync(join(kSite, "docs", "index.html"));
}

/** The reason why there is nothing to test, or false. */
export const noSite = hasSite() ? false : "no build/site: npm run site";

/** Returns all pages, by their paths in the site. */
export function allPages() {
  if (noSite) return [];
  return readdirSync(kSite, { recursive: true }).filter((name) => name.endsWith(".html"));
}

/** Returns the pages built by Vite, the first pages of the reference, and one reference page of every kind. */
export function chosenPages() {
  const kinds = new Set();
  return allPages().filter((page) => {
    const [, folder, rest] = page.split("/");
    const kind = page.startsWith("docs/") && rest ? folder : page;
    const isNew = !kinds.has(kind);
    kinds.add(kind);
    return isNew || kTablePages.some((name) => page.endsWith(name));
  });
}

// The pages of the guide with the widest tables.
const kTablePages = ["/Coming_from_PyTorch.html", "/Troubleshooting.html"];

/** Collects the errors of a page: in the console, uncaught, and missing files. */
export function complaintsOf(page) {
  const complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  return complaints;
}
