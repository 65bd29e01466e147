// The Markdown of the project: its pages, their code, headings and links.

import { readdirSync, readFileSync } from "node:fs";
import { kRoot } from "../../js/support/files.mjs";

const kCode = /^```([^\n]*)\n([\s\S]*?)^```/gm;

/** The pages whose code runs, by their paths in the checkout. */
export const kPages = ["README.md", ...filesIn("docs")];

/** The text of a page. */
export function textOf(page) {
  return readFileSync(kRoot + page, "utf8");
}

/** The code of a page: its language, what follows that in the fence, and the line it begins at. */
export function codeOf(page) {
  const text = textOf(page);
  return [...text.matchAll(kCode)].map(({ 1: fence, 2: code, index }) => {
    const [language, ...note] = fence.trim().split(" ");
    return { language, note: note.join(" "), code, line: text.slice(0, index).split("\n").length };
  });
}

/** The anchors of a page's headings, as forges make them. */
export function anchorsOf(page) {
  const headings = proseOf(page).matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading]) => slug(heading)));
}

/** Where the links and pictures of a page lead. */
export function linksOf(page) {
  const prose = proseOf(page).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, address]) => address);
}

function proseOf(page) {
  return textOf(page).replace(kCode, "");
}

function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

function filesIn(folder) {
  const names = readdirSync(kRoot + folder, { recursive: true });
  return names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);
}
