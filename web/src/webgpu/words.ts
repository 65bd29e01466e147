// The functions that formulas call in WGSL, and which of them a shader needs.

import complex from "./words/complex.wgsl";
import complexTrigonometric from "./words/complex_trigonometric.wgsl";
import division from "./words/division.wgsl";
import exponential from "./words/exponential.wgsl";
import gamma from "./words/gamma.wgsl";
import incompleteGamma from "./words/incomplete_gamma.wgsl";
import integer from "./words/integer.wgsl";
import numbers from "./words/numbers.wgsl";
import power from "./words/power.wgsl";
import special from "./words/special.wgsl";
import trigonometric from "./words/trigonometric.wgsl";

interface Declaration {
  readonly text: string;
  /** Every name in the text; those of declarations are what it needs. */
  readonly names: ReadonlySet<string>;
}

const kFiles = [
  numbers,
  exponential,
  power,
  trigonometric,
  division,
  special,
  gamma,
  incompleteGamma,
  integer,
  complex,
  complexTrigonometric,
];

/** Every word that a text calls and what those need in turn, in the order of the files. */
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

/** The names in a WGSL text: those of its functions, types, constants and variables. */
export function namesIn(text: string): Set<string> {
  return new Set(text.match(/\b[A-Za-z]\w*/g) ?? []);
}

let parsed: Map<string, Declaration> | undefined;

// One per function, struct and constant: what begins at the start of a line and ends with a brace at
// the start of a line, or on the same line with a semicolon.
function declarations(): Map<string, Declaration> {
  parsed ??= new Map(
    kFiles.flatMap((file) => {
      const code = file.replace(/\s*\/\/.*$/gm, "");
      const found = code.matchAll(/^(?:const (\w+).*;|(?:fn|struct) (\w+)[\s\S]*?^\})$/gm);
      return [...found].map(([text, constant, other]): [string, Declaration] => [
        (constant ?? other) as string,
        { text, names: namesIn(text) },
      ]);
    }),
  );
  return parsed;
}
