// Runs an example step by step, and writes what each step prints behind it.

import { format } from "node:util";
import { eg } from "../../../tests/js/support/engine.mjs";

const kMostShown = 12;
const kMostText = 400;
const AsyncFunction = (async () => {}).constructor;

/** The beginning of every example of the core. */
export const kBeginning = 'import * as eg from "edgegrad";\n\nawait eg.init();\n';

/**
 * Runs steps { name, code }: expressions, whose values later steps call `name`. A step with `isShown` is printed, in a form that fits its
 * value. Returns the text of the program with the lines that it prints.
 */
export async function programOf(steps) {
  const first = await attempt(steps, 1);
  const second = await attempt(steps, 2);
  if (first === second) return first;
  return `eg.manualSeed(0);\n${await attempt(steps, 0)}`;
}

async function attempt(steps, seed) {
  const names = [];
  const values = [];
  const lines = [];
  eg.manualSeed(seed);
  for (const { name, code, isShown } of steps) {
    const value = await evaluate(code, names, values);
    const keeps = name !== undefined && isUsed(name, steps);
    if (keeps) lines.push(`const ${name} = ${code};`);
    if (name !== undefined) {
      names.push(name);
      values.push(value);
    }
    const shown = isShown ? shownForm(keeps ? name : code, value) : null;
    if (shown === null) {
      if (!keeps) lines.push(`${code};`);
      continue;
    }
    const printed = format(await evaluate(shownForm("value", value), ["value"], [value]));
    lines.push(`console.log(${shown});`, ...arrows(printed));
  }
  return `${lines.join("\n")}\n`;
}

// A step whose value no other one uses needs no name.
function isUsed(name, steps) {
  return steps.some(({ code }) => new RegExp(`(?<![\\w.])${name}(?!\\w)`).test(code));
}

async function evaluate(code, names, values) {
  return new AsyncFunction("eg", ...names, `return ${code};`)(eg, ...values);
}

function arrows(printed) {
  return printed.split("\n").map((line) => `// → ${line}`.trimEnd());
}

// How a value is printed; null if there is nothing to see.
function shownForm(code, value) {
  if (value === undefined) return null;
  if (value instanceof eg.Tensor) return tensorForm(code, value);
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => item instanceof eg.Tensor)
  ) {
    const isSmall = value.reduce((count, { numel }) => count + numel, 0) <= kMostShown;
    return isSmall ? `${code}.map(String)` : `${code}.map(({ shape }) => shape)`;
  }
  if (hasOwnText(value)) return `String(${code})`;
  if (typeof value === "object" && value !== null && format(value).length > kMostText)
    return `Object.keys(${code})`;
  return typeof value === "function" ? null : code;
}

function tensorForm(code, value) {
  return value.numel <= kMostShown && !value.isSparse ? `String(${code})` : `${code}.shape`;
}

function hasOwnText(value) {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || ArrayBuffer.isView(value)) return false;
  return value.toString !== Object.prototype.toString;
}
