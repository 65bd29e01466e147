// Runs recipes with parts of their lines exchanged for hostile values.

import { anything, list, number, wholeNumber } from "./hostile.mjs";
import { kRecipes } from "./recipes/index.mjs";

/** Runs a recipe as far as its lines work. */
export async function recipe(random, program) {
  const lines = random.pick(kRecipes);
  const start = program.lines.length;
  for (const line of lines) {
    const text = fill(random.chance(0.45) ? mutate(random, program, line) : line, start);
    const options = { mayChange: true };
    // A line that failed leaves undefined, which a later line must not take a property of.
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

// The parts of a line that can be exchanged, and for what.
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

// What was exchanged stays: a size in a list that overflows would become one that is merely slow.
function mutate(random, program, line) {
  let text = line;
  const values = [];
  for (let i = random.int(2); i >= 0; i--) {
    const [pattern, make] = random.pick(kParts);
    const matches = [...text.matchAll(pattern)];
    if (matches.length === 0) continue;
    const match = random.pick(matches);
    const place = String.fromCharCode(kFirstPlace + values.length);
    values.push(`(${make(random, program)})`);
    text = text.slice(0, match.index) + place + text.slice(match.index + match[0].length);
  }
  // From the last one on, which may stand around those before.
  return values.reduceRight(
    (filled, value, i) => filled.replace(String.fromCharCode(kFirstPlace + i), () => value),
    text,
  );
}

// Characters that no line has.
const kFirstPlace = 0xe000;
