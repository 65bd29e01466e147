// Reads the Markdown files of the project: pages, code blocks, headings and links.

import { readdirSync, readFileSync } from "node:fs";
import { kRoot } from "../../js/support/files.mjs";

const kCode = /^```([^\n]*)\n([\s\S]*?)^```/gm;

/** The pages whose code runs, by their paths in the checkout. */
export const kPages = ["README.md", ...filesIn("docs")];

/** Returns the text of a page. */
export function textOf(page) {
  return readFileSync(kRoot + page, "utf8");
}

/** Returns the code blocks of a page: the language, the rest of the fence, the code, and the line on which it begins. */
export function codeOf(page) {
  const text = textOf(page);
  return [...text.matchAll(kCode)].map(({ 1: fence, 2: code, index }) => {
    const [language, ...note] = fence.trim().split(" ");
    return { language, note: note.join(" "), code, line: text.slice(0, index).split("\n").length };
  });
}

/** Returns the anchors of a page's headings, as GitHub generates them. */
export function anchorsOf(page) {
  const headings = proseOf(page).matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading]) => slug(heading)));
}

/** Returns the targets of the links and pictures of a page. */
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
