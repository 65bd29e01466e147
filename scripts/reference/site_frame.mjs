// What pages of the docs share with the rest of the site: its navigation, and the way from one page of the guide to the next.

import { kGroups, kPages } from "../../demos/site/pages.mjs";

/** Returns the entries of the site's header, with addresses that begin with "site:" for its root. */
export function siteLinks() {
  const menus = ["learn", "demos"].map((group) => {
    const items = kPages
      .filter((page) => page.group === group)
      .map(({ name, title }) => `<li><a href="site:${name}/index.html">${title}</a></li>`);
    return `<details class="menu" name="menu"><summary>${kGroups[group]}</summary><ul class="menu-list">${items.join("")}</ul></details>`;
  });
  return `<a href="site:index.html">Site</a>${menus.join("")}<a href="site:docs/index.html">Guide</a><a href="site:docs/modules.html">Reference</a>`;
}

/** Returns the documents before and after one, in the order of the guide; null where there is none. */
export function neighborsOf(document, documents) {
  const read = documents.filter(({ frontmatter }) => frontmatter.category !== "Lists");
  const at = read.indexOf(document);
  return at < 0 ? [null, null] : [read[at - 1] ?? null, read[at + 1] ?? null];
}
