// The frame of all pages: the head, the navigation and the footer. A page's index.html contains its title, description
// and <main>; the script is its main.ts, and its style the file of its name. The header has few entries: those of groups open a list of pages.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { kOwner } from "./owner.mjs";
import { kGroups, kPages } from "./pages.mjs";

const kHead = `
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="{root}icon.svg" />
    <link rel="manifest" href="{root}manifest.webmanifest" />
    <meta name="theme-color" content="#2f5bea" />
    <link rel="stylesheet" href="{root}shared/style.css" />
    <script type="module" src="{root}shared/frame.ts"></script>`;

const kBody = `
    <a class="skip" href="#main">Skip to content</a>
    <header class="site">
      <a class="brand" href="{root}index.html">{logo}edgegrad</a>
      <nav aria-label="Pages"><ul>{learn}{demos}<li><a href="{root}docs/index.html">Docs</a></li></ul></nav>
      <button type="button" id="theme" aria-label="Colors">◐</button>
    </header>
    <p id="alert" role="alert" hidden></p>`;

// As in public/icon.svg.
const kLogo = `<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><path d="M6 16H26A10 10 0 1 0 22.6 23.5"/><circle cx="22.6" cy="23.5" r="4"/></svg>`;

const kFooter = `
    <footer class="site">
      <p>Everything here runs in this page: no server computes, and no data leaves it. <span id="offline-note"></span> MIT license.</p>
      <nav aria-label="Tools"><ul class="tools">{tools}{owner}</ul></nav>
    </footer>`;

/** A Vite plugin that adds the frame to every page in `folder`. */
export function pageFrame(folder) {
  return {
    name: "page-frame",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        const root = "../".repeat(path.split("/").length - 2) || "./";
        const of = (group) => pagesOf(group, folder, root, path);
        const fill = (text) =>
          text
            .replace("{learn}", () => menu("learn", of("learn")))
            .replace("{demos}", () => menu("demos", of("demos")))
            .replace("{tools}", () => of("tools"))
            .replace("{owner}", ownerLinks)
            .replace("{logo}", () => kLogo)
            .replaceAll("{root}", root);
        return html
          .replace(/<head>/, (tag) => tag + fill(kHead) + preview(html, path))
          .replace(/\s*<\/head>/, (tag) => own(folder, path) + tag)
          .replace(/<body[^>]*>/, (tag) => tag + fill(kBody))
          .replace(/<main/, '<main id="main" tabindex="-1"')
          .replace(/\s*<\/main>/, (tag) => neighbors(folder, root, path) + tag)
          .replace(/\s*<\/body>/, (tag) => fill(kFooter) + tag);
      },
    },
  };
}

// The style and the script of a page in a folder of its own.
function own(folder, path) {
  const [, name] = /^\/(\w+)\/index\.html$/.exec(path) ?? [];
  if (name === undefined) return "";
  const style = `\n    <link rel="stylesheet" href="./${name}.css" />`;
  const hasStyle = existsSync(join(folder, name, `${name}.css`));
  return `${hasStyle ? style : ""}\n    <script type="module" src="./main.ts"></script>`;
}

// What messengers and search engines show of a page.
function preview(html, path) {
  const title = /<title>([^<]*)</.exec(html)?.[1] ?? "";
  const description = /name="description"\s+content="([^"]*)"/.exec(html)?.[1] ?? "";
  const tags = { "og:type": "website", "og:title": title, "og:description": description };
  if (kOwner.site !== "") {
    tags["og:url"] = kOwner.site + path.slice(1);
    tags["og:image"] = `${kOwner.site}preview.jpg`;
  }
  const lines = Object.entries(tags).map(
    ([name, text]) => `<meta property="${name}" content="${text}" />`,
  );
  return `\n    ${lines.join("\n    ")}`;
}

function ownerLinks() {
  const links = { Repository: kOwner.repository, npm: kOwner.npm };
  return Object.entries(links)
    .filter(([, address]) => address !== "")
    .map(([name, address]) => `<li><a href="${address}">${name}</a></li>`)
    .join("");
}

// The pages before and after a page, in the order of the navigation.
function neighbors(folder, root, path) {
  const pages = kPages.filter(({ group, name }) => group !== "tools" && isThere(folder, name));
  const at = pages.findIndex(({ name }) => path === `/${name}/index.html`);
  if (at < 0) return "";
  const to = (page, rel, text) =>
    page === undefined
      ? ""
      : `<a class="neighbor" rel="${rel}" href="${root}${page.name}/index.html">${text(page.title)}</a>`;
  const before = to(pages[at - 1], "prev", (title) => `← ${title}`);
  const next = to(pages[at + 1], "next", (title) => `${title} →`);
  return `\n      <nav class="neighbors" aria-label="Previous and next page">${before}${next}</nav>`;
}

function menu(group, items) {
  const current = items.includes("aria-current") ? ' class="current"' : "";
  return `<li><details class="menu" name="menu"><summary${current}>${kGroups[group]}</summary><ul class="menu-list">${items}</ul></details></li>`;
}

function pagesOf(group, folder, root, path) {
  const pages = kPages.filter((page) => page.group === group && isThere(folder, page.name));
  const items = pages.map(({ name, title }) => {
    const current = path === `/${name}/index.html` ? ' aria-current="page"' : "";
    return `<li><a href="${root}${name}/index.html"${current}>${title}</a></li>`;
  });
  return items.join("");
}

/** Whether a page exists. */
export function isThere(folder, name) {
  return existsSync(join(folder, name, "index.html"));
}
