// The composites with their sample calls (composite_calls.mjs), in the form of the op table.

import { readdirSync, readFileSync } from "node:fs";
import { kCompositeCalls } from "./composite_calls.mjs";
import { eg } from "./engine.mjs";
import { kRoot } from "./files.mjs";
import { opTable } from "./op_samples.mjs";

const kFolder = "web/src/composites";
const kSources = readdirSync(`${kRoot}${kFolder}`, { recursive: true })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(`${kRoot}${kFolder}/${file}`, "utf8"));

/** The composites in the form of the op table. */
export const compositeTable = Object.entries(kCompositeCalls).map(([js, samples]) => ({
  js,
  name: js,
  family: "Ops made of ops",
  doc: docOf(js),
  // A composite that takes no tensor creates one.
  kind: /[TCIB]\(/.test(samples[0]) ? "composite" : "factory",
  args: [],
  samples,
}));

/** Other names of ops: { alias, js }. */
export const aliases = [...opTable, ...compositeTable].flatMap(({ js }) =>
  Object.keys(eg)
    .filter((name) => name !== js && eg[name] === eg[js] && eg[js] !== undefined)
    .map((alias) => ({ alias, js })),
);

// Returns the comment before a function as one line. For a name in a namespace, the first comment of the file.
function docOf(name) {
  const own = name.split(".").at(-1);
  const pattern = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*export const ${own}\\b`);
  const sources = kSources.filter((text) => pattern.test(text));
  const source = sources.find((text) => text.includes(`"${name}"`)) ?? sources[0];
  const [, comment] = source.match(pattern);
  return comment.replaceAll(/\n\s*\* ?/g, " ").trim();
}
