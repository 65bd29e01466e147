// Runs an example that is written by hand, and adds what its console.log() lines print.

import { format } from "node:util";
import * as edgegrad from "edgegrad";
import { eg } from "../../../tests/js/support/engine.mjs";

const AsyncFunction = (async () => {}).constructor;

/** Returns the whole program: with its imports, and with the lines that it prints behind the statement that does. */
export async function runByHand(name, code) {
  const lines = code.trim().split("\n");
  const printed = new Map();
  const runnable = lines.map((line, i) => line.replaceAll("console.log(", `printFrom(${i}, `));
  const printFrom = (i, ...values) =>
    printed.set(i, [...(printed.get(i) ?? []), ...format(...values).split("\n")]);
  const [, addon] = /^edgegrad\/(\w+)\./.exec(name) ?? [];
  const names = addon === undefined ? {} : await import(`edgegrad/${addon}`);
  eg.manualSeed(0);
  const body = runnable.join("\n");
  const imported = Object.keys(names).filter((key) => key !== "default");
  const program = new AsyncFunction("eg", "printFrom", ...imported, body);
  try {
    await program(edgegrad, printFrom, ...imported.map((member) => names[member]));
  } catch (error) {
    throw new Error(`the example of ${name}: ${error.stack}`);
  }
  const text = lines.flatMap((line, i) => [
    line,
    ...(printed.get(i) ?? []).map((line) => `// → ${line}`.trimEnd()),
  ]);
  const used = imported.filter((member) => new RegExp(`\\b${member}\\b`).test(code));
  const from = addon === undefined ? [] : [importLine(used, `edgegrad/${addon}`)];
  const head = ['import * as eg from "edgegrad";', ...from, "", "await eg.init();"];
  const seed = body.includes("rand") ? ["eg.manualSeed(0);"] : [];
  return `${[...head, ...seed, ...text].join("\n")}\n`;
}

function importLine(names, entry) {
  return `import { ${names.join(", ")} } from "${entry}";`;
}
