// Reads the Markdown files of the project: pages, code blocks, headings and links.

import { readdirSync, readFileSync } from "node:fs";
import { kRoot } from "../../js/support/files.mjs";

const kCode = /^```([^\n]*)\n([\s\S]*?)^```/gm;

/** The pages whose code runs, by their paths in the checkout: those that git has. */
export const kPages = ["README.md", ...filesIn("docs").filter((page) => !isGenerated(page))];

/** The pages for contributors. */
export const kContributorsPages = [
  "CONTRIBUTING.md",
  "scripts/split/README.md",
  "tests/README.md",
  ...["demos", "examples", "src", "tests/bench", "web"].flatMap(filesIn),
];

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

const kPair = /^```js\n[\s\S]*?^```\n+(?=```python\n)/gm;

/** Returns the blocks of Python that follow a program in JavaScript and say what they print: the same program. */
export function pairsOf(page) {
  const text = textOf(page);
  const lines = [...text.matchAll(kPair)].map(
    ({ 0: before, index }) => text.slice(0, index + before.length).split("\n").length,
  );
  return codeOf(page).filter(
    ({ language, code, line }) =>
      language === "python" && code.includes("# → ") && lines.includes(line),
  );
}

/** Returns the anchors of the headings of a text, as GitHub generates them. */
export function anchorsOf(text) {
  const headings = proseOf(text).matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading]) => slug(heading)));
}

/** Returns the targets of the links and pictures of a text. */
export function linksOf(text) {
  const prose = proseOf(text).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, address]) => address);
}

function proseOf(text) {
  return text.replace(kCode, "");
}

function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

function isGenerated(page) {
  return page.startsWith("docs/generated/");
}

function filesIn(folder) {
  const names = readdirSync(kRoot + folder, { recursive: true });
  return names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);
}
