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
  const comment = "/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*";
  // `var` cannot name a constant, so the function is found by the name that it passes.
  const named = `export const \\w+(?:(?!export const)[^])*?\\(\\s*"${name}"`;
  const declared = `export const ${name.split(".").at(-1)}\\b`;
  for (const declaration of [named, declared]) {
    const found = kSources.map((text) => text.match(new RegExp(comment + declaration)));
    const match = found.find((one) => one !== null);
    if (match !== undefined) return match[1].replaceAll(/\n\s*\* ?/g, " ").trim();
  }
  throw new Error(`${name} has no comment`);
}
