// Runs recipes with parts of their lines replaced by hostile values.

import { anything, list, number, wholeNumber } from "./hostile.mjs";
import { kRecipes } from "./recipes/index.mjs";

/** Runs the lines of a recipe, skipping those that depend on a failed one. */
export async function recipe(random, program) {
  const lines = random.pick(kRecipes);
  const start = program.lines.length;
  for (const line of lines) {
    const text = fill(random.chance(0.45) ? mutate(random, program, line) : line, start);
    const options = { mayChange: true };
    // The result of a failed line is undefined, and reading a property of that would be the program's own error.
    if (refersToNothing(program, text)) continue;
    if (text.startsWith("await ")) await program.runAsync(text, options);
    else program.run(text, options);
    if (program.problem !== null) return;
  }
}

/** Returns a recipe's line in a program that has `start` lines before it. */
export function fill(line, start) {
  return line.replace(/^!/, "").replace(/\$(\d+)/g, (_, number) => `v.t${start + Number(number)}`);
}

function refersToNothing(program, text) {
  return Array.from(text.matchAll(/v\.(t\d+)/g)).some(([, name]) => !program.hasValue(name));
}

// The parts of a line that can be replaced, and generators of replacements.
const kParts = [
  [
    /\beg\.(randn?|ones|randint|arange|eye)\((?:[^()]|\([^()]*\))*\)/g,
    (random, program) => tensorOr(random, program),
  ],
  [/\$\d+(?=[,)\]])/g, (random, program) => tensorOr(random, program)],
  [/\[[\d\s,.-]*\]/g, (random) => (random.chance(0.7) ? list(random, 0.6) : anything(random))],
  [/(?<![\w.$])-?\d+(\.\d+)?(e-\d+)?n?(?![\w.])/g, (random) => aNumber(random)],
  [/"[^"]*"/g, (random) => anything(random)],
  [/\b(true|false|null)\b/g, (random) => anything(random)],
];

function aNumber(random) {
  const kinds = [
    [6, wholeNumber],
    [2, number],
    [2, anything],
  ];
  return random.weighted(kinds)(random, 0.6);
}

function tensorOr(random, program) {
  if (program.tensors.length === 0 || random.chance(0.3)) return anything(random);
  return random.pick(program.tensors);
}

// Replaced parts are not replaced again: a huge size in a list could become one that is merely slow.
function mutate(random, program, line) {
  let text = line;
  const values = [];
  for (let i = random.int(2); i >= 0; i--) {
    const [pattern, make] = random.pick(kParts);
    const matches = [...text.matchAll(pattern)];
    if (matches.length === 0) continue;
    const match = random.pick(matches);
    const mark = String.fromCharCode(kFirstMark + values.length);
    values.push(`(${make(random, program)})`);
    text = text.slice(0, match.index) + mark + text.slice(match.index + match[0].length);
  }
  // From the last one to the first, because a later replacement may contain marks of earlier ones.
  return values.reduceRight(
    (filled, value, i) => filled.replace(String.fromCharCode(kFirstMark + i), () => value),
    text,
  );
}

// Private-use characters, which no line contains.
const kFirstMark = 0xe000;
