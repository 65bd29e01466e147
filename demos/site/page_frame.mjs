// The frame of all pages: the head, the navigation and the footer. A page's index.html contains its title, description
// and <main>.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { kPages } from "./pages.mjs";

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
      <a class="brand" href="{root}index.html">edgegrad</a>
      <nav aria-label="Pages"><ul>{links}</ul></nav>
      <button type="button" id="theme" aria-label="Colors">◐</button>
    </header>
    <p id="alert" role="alert" hidden></p>`;

const kFooter = `
    <footer class="site">Everything here runs in this page: no server computes, and no data leaves it. <span id="offline-note"></span> MIT license.</footer>`;

/** A Vite plugin that adds the frame to every page in `folder`. */
export function pageFrame(folder) {
  return {
    name: "page-frame",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        const root = "../".repeat(path.split("/").length - 2) || "./";
        const fill = (text) =>
          text.replaceAll("{root}", root).replace("{links}", links(folder, root, path));
        return html
          .replace(/<head>/, (tag) => tag + fill(kHead))
          .replace(/<body[^>]*>/, (tag) => tag + fill(kBody))
          .replace(/<main/, '<main id="main" tabindex="-1"')
          .replace(/\s*<\/body>/, (tag) => kFooter + tag);
      },
    },
  };
}

function links(folder, root, path) {
  const pages = kPages.filter(([name]) => existsSync(join(folder, name, "index.html")));
  const items = pages.map(([name, title]) => {
    const current = path === `/${name}/index.html` ? ' aria-current="page"' : "";
    return `<li><a href="${root}${name}/index.html"${current}>${title}</a></li>`;
  });
  return [...items, `<li><a href="${root}docs/index.html">Docs</a></li>`].join("");
}
