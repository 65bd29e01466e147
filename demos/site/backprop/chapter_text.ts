// The list of chapters, and the words of one: what a visitor reads while the engine loads.

import { link, paragraph } from "../shared/elements.js";
import { byId } from "../shared/frame.js";
import type { Address } from "./address.js";
import type { Chapter } from "./chapters/chapter.js";
import { kChapters } from "./chapters/index.js";

/** Returns the chapter that an address names, or the first one. */
export function chapterOf({ chapter }: Address): Chapter {
  return kChapters.find(({ id }) => id === chapter) ?? (kChapters[0] as Chapter);
}

/** Fills the list of chapters. */
export function listChapters(): void {
  byId("chapters").append(
    ...kChapters.map(({ id, title }) => {
      const item = document.createElement("li");
      item.append(link(`#${id}`, title));
      return item;
    }),
  );
}

/** Shows the title and the paragraphs of a chapter, and marks it in the list. */
export function showText({ id, title, paragraphs }: Chapter): void {
  byId("title").textContent = title;
  byId("text").replaceChildren(...paragraphs.map((text) => paragraph(text)));
  for (const entry of document.querySelectorAll<HTMLAnchorElement>("#chapters a")) {
    if (entry.hash === `#${id}`) entry.setAttribute("aria-current", "step");
    else entry.removeAttribute("aria-current");
  }
}
