// The WGSL functions that formulas call, and the selection of those that a shader needs.

import complex from "./words/complex.wgsl";
import complexTrigonometric from "./words/complex_trigonometric.wgsl";
import division from "./words/division.wgsl";
import exponential from "./words/exponential.wgsl";
import gamma from "./words/gamma.wgsl";
import half from "./words/half.wgsl";
import incompleteGamma from "./words/incomplete_gamma.wgsl";
import integer from "./words/integer.wgsl";
import integer64 from "./words/integer64.wgsl";
import numbers from "./words/numbers.wgsl";
import power from "./words/power.wgsl";
import random from "./words/random.wgsl";
import special from "./words/special.wgsl";
import trigonometric from "./words/trigonometric.wgsl";

interface Declaration {
  readonly text: string;
  /** All names in the text; those that are declarations are its dependencies. */
  readonly names: ReadonlySet<string>;
}

const kFiles = [
  numbers,
  half,
  exponential,
  power,
  trigonometric,
  division,
  special,
  gamma,
  incompleteGamma,
  integer,
  integer64,
  complex,
  complexTrigonometric,
  random,
];

/** Returns the declarations that a text needs, directly or indirectly, in the order of the files. */
export function wordsOf(text: string): string {
  const all = declarations();
  const needed = new Set<string>();
  const waiting = [...namesIn(text)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const declaration = all.get(name);
    if (declaration === undefined || needed.has(name)) continue;
    needed.add(name);
    waiting.push(...declaration.names);
  }
  const texts = [...all].filter(([name]) => needed.has(name)).map(([, { text }]) => text);
  return texts.join("\n");
}

/** Returns the names in a WGSL text: functions, types, constants and variables. */
export function namesIn(text: string): Set<string> {
  return new Set(text.match(/\b[A-Za-z]\w*/g) ?? []);
}

let parsed: Map<string, Declaration> | undefined;

// A declaration is a function or struct, which starts at the beginning of a line and ends with a brace at the beginning of a
// line, or a constant on a single line. Bundles leave out comments (scripts/building/web_bundle.mjs).
function declarations(): Map<string, Declaration> {
  parsed ??= parse();
  return parsed;
}

function parse(): Map<string, Declaration> {
  const all = new Map<string, Declaration>();
  for (const file of kFiles) {
    const found = file.matchAll(/^(?:const (\w+).*;|(?:fn|struct) (\w+)[\s\S]*?^\})$/gm);
    for (const [text, constant, other] of found) {
      const name = (constant ?? other) as string;
      if (all.has(name)) throw new Error(`two files declare ${name}`);
      all.set(name, { text, names: namesIn(text) });
    }
  }
  return all;
}
