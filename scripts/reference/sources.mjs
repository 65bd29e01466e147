// What the sources and the lists say of functions: the op table, formulas, dtypes and messages.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listPath } from "../docs/lists.mjs";
import { kRoot } from "../process.mjs";

const read = (path) => readFileSync(join(kRoot, path), "utf8");
const { ops } = JSON.parse(read("web/src/generated/op_table.json"));

/** The ops, by their names. */
export const kOps = new Map(ops.map((op) => [op.js, op]));

/** The formulas of one line in src/formulas, by the name of the op. */
export function formulas() {
  const found = new Map();
  for (const file of readdirSync(join(kRoot, "src/formulas")).filter((name) =>
    name.endsWith(".h"),
  )) {
    for (const [, body] of read(`src/formulas/${file}`).matchAll(
      /^struct \w+ \{\n([\s\S]*?)^\};/gm,
    )) {
      const [, name] = /doc\{\s*"(\w+)"/.exec(body) ?? [];
      const [forward] = returned(body, "forward");
      if (name && forward) found.set(name, { forward, gradients: returned(body, "grad\\w*") });
    }
  }
  return found;
}

function returned(body, name) {
  const pattern = new RegExp(
    `auto ${name}\\([^)]*\\)(?: const)? \\{\\s*return ([^;{]*);\\s*\\}`,
    "g",
  );
  return [...body.matchAll(pattern)].map(([, expression]) => expression.replaceAll(/\s+/g, " "));
}

/** Returns the rows of the list of ops. */
export function dtypeRows() {
  const rows = readFileSync(listPath("ops"), "utf8").matchAll(
    /^\| `([\w.]+)` \|([^|]*)\|([^|]*)\|/gm,
  );
  return new Map(
    [...rows].map(([, name, cpu, gradient]) => {
      const has = gradient.trim() === "–" ? "no gradient" : `gradient: ${gradient.trim()}`;
      return [name, `${cpu.trim()}; ${has}`];
    }),
  );
}

/** Returns the messages [code, text] of every function, as the sources have them. */
export function messagesByCaller() {
  const found = new Map();
  const sections = readFileSync(listPath("messages"), "utf8").split(/^## /m).slice(1);
  for (const section of sections) {
    const kind = section.slice(0, section.indexOf("\n"));
    for (const [, caller, message] of section.matchAll(/^\| (\w+) \| (.*) \| [^|]* \|$/gm))
      found.set(caller, [...(found.get(caller) ?? []), [kind, message.replaceAll("\\`", "`")]]);
  }
  return found;
}
