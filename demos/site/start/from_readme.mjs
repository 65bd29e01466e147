// Content of the start page that is made while the site is built: what README.md says, the program in color, and the list of demos.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isThere } from "../page_frame.mjs";
import { kPages } from "../pages.mjs";
import { coloredCode } from "./colored.mjs";
import { kDrawings } from "./drawings.mjs";

const kProgram = new URL("example.js", import.meta.url);

/** A Vite plugin that fills the places of the start page: comments such as <!-- features -->. */
export function startPage(site, readme) {
  return {
    name: "start-page",
    transformIndexHtml: {
      order: "pre",
      handler(html, { path }) {
        if (path !== "/index.html") return html;
        const text = readFileSync(readme, "utf8");
        return html
          .replace("<!-- program -->", program)
          .replace(/<!-- picture (\w+) -->/g, (_, name) => kDrawings[name])
          .replace("<!-- features -->", () => withLinks(features(text), dirname(readme)))
          .replace("<!-- demos -->", () => demos(site))
          .replace("<!-- speed -->", () => withLinks(speed(text), dirname(readme)));
      },
    },
  };
}

function program() {
  const code = coloredCode(readFileSync(kProgram, "utf8"));
  return `<pre class="code-to-come" tabindex="0" role="group" aria-label="Program">${code}</pre>`;
}

function features(text) {
  const items = beforeHeading(text, "Try it").match(/^- .*\n(?: {2}.*\n)*/gm);
  return `<ul>${items.map((item) => `<li>${inline(item.slice(2))}</li>`).join("")}</ul>`;
}

function demos(site) {
  const pages = kPages.filter(({ group, name }) => group !== "tools" && isThere(site, name));
  const items = pages.map(
    ({ name, title, sentence }) =>
      `<li><a href="${name}/index.html"><img src="./start/pictures/${name}.jpg" alt="" width="640" height="400" loading="lazy" />${title}</a><p>${inline(sentence)}</p></li>`,
  );
  return `<ul class="demos">${items.join("")}</ul>`;
}

// The paragraphs and tables of the section.
function speed(text) {
  const [, section] = text.split(/^## How fast\n/m);
  const blocks = section.split(/^## /m)[0].split(/\n{2,}/);
  return blocks
    .map((block) => block.replace(/^<!--.*-->$/gm, "").trim())
    .map(block)
    .join("");
}

function block(text) {
  if (text === "") return "";
  return text.startsWith("|") ? table(text) : `<p>${inline(text)}</p>`;
}

function table(text) {
  const [head, , ...rows] = text.split("\n").map((line) => line.split("|").slice(1, -1));
  const cells = (row, tag) => row.map((cell, i) => cellOf(cell, i === 0 ? "th" : tag)).join("");
  const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
  const whole = `<thead><tr>${cells(head, "th")}</tr></thead><tbody>${body}</tbody>`;
  return `<div class="scroll" tabindex="0" role="group" aria-label="Table of speeds"><table>${whole}</table></div>`;
}

function cellOf(text, tag) {
  const content = inline(text.trim());
  return tag === "th" && content === "" ? "<td></td>" : `<${tag}>${content}</${tag}>`;
}

function inline(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replace(/\*\*(.*?)\*\*/g, "<strong>$1</strong>")
    .replace(/`(.*?)`/g, "<code>$1</code>");
}

// Links to pages of the guide become links to where the site has them: under their titles.
function withLinks(html, root) {
  return html.replace(/\[([^\]]*)\]\(([^)#]*\.md)(#[^)]*)?\)/g, (_, text, path, part = "") => {
    const title = /^# (.*)$/m.exec(readFileSync(join(root, path), "utf8"))[1];
    return `<a href="docs/documents/${title.replaceAll(" ", "_")}.html${part}">${text}</a>`;
  });
}

function beforeHeading(text, heading) {
  return text.slice(0, text.indexOf(`\n## ${heading}`));
}
