// Examples from the guide, whose programs tests/docs runs.

import { codeOf, kPages } from "../../../tests/docs/support/markdown.mjs";

const kOwnFiles = /from ["']\.\//;

const kPrograms = kPages
  .flatMap((page) => codeOf(page).map((block) => ({ ...block, page })))
  .filter(({ language, note }) => language === "js" && ["", "page"].includes(note))
  .sort((a, b) => rank(a) - rank(b));

// Programs before parts of pages, complete ones before those with files beside them, and short ones before long ones.
function rank({ note, code }) {
  return (note === "page" ? 1e6 : 0) + (kOwnFiles.test(code) ? 1e5 : 0) + code.length;
}

/** Returns the shortest program of the guide that uses a name, { code, page }; null without one. */
export function exampleOf(path) {
  const [, entry, name] = /^(?:(edgegrad\/\w+)\.)?(.*)$/.exec(path);
  const own = entry === undefined ? `eg\\.${name.replaceAll(".", "\\.")}` : name;
  const pattern = new RegExp(`(?<!\\w)${own}(?!\\w)`);
  const uses = ({ code }) => {
    if (entry !== undefined && !new RegExp(`["']${entry}["']`).test(code)) return false;
    return pattern.test(withoutComments(code));
  };
  return kPrograms.find(uses) ?? null;
}

function withoutComments(code) {
  return code.replaceAll(/\/\/.*$/gm, "");
}
