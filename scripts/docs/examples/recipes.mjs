// Examples of layers, optimizers, distributions and the rest of the core, from the fuzzer's recipes (tests/fuzz/recipes).

import { kRecipes } from "../../../tests/fuzz/recipes/index.mjs";
import { dtypesOfSteps, errorsOfSteps, shapesOfSteps } from "./measured.mjs";
import { programOf } from "./program.mjs";

// An optimizer steps once, and a scheduler changes its rate once.
function trainingSteps(recipe, line, path) {
  if (path.startsWith("optim.lrScheduler.")) {
    const steps = stepsOf(recipe, line).slice(0, line + 1);
    const given = /Plateau/.test(path) ? "1" : "";
    return [
      ...steps.map((step) => ({ ...step, isShown: false })),
      { code: "optimizer.step()" },
      { code: `scheduler.step(${given})` },
      { code: "scheduler.lastLr", isShown: true },
    ];
  }
  const [, options] = /^new [\w.]+\((?:\$0|\[\{.*?\}\]), (\{.*\})\)$/.exec(recipe[line]) ?? [];
  if (options === undefined) return null;
  return [
    { name: "x", code: "eg.tensor([1, -2], { requiresGrad: true })" },
    { name: "optimizer", code: `new eg.${path}([x], ${options})` },
    { code: "x.square().sum().backward()" },
    { code: "optimizer.step()" },
    { code: "x", isShown: true },
  ];
}

/** Returns the example of a name of the core, made of the lines of a recipe that it needs, { code, shapes, dtypes, errors }; null if no recipe has it. */
export async function exampleOf(path) {
  const found = kRecipes.flatMap((recipe) => {
    const line = recipe.findIndex((text) => !text.startsWith("!") && calls(text, path));
    if (line < 0) return [];
    const steps = /^optim\.(lrScheduler\.)?\w+$/.test(path)
      ? trainingSteps(recipe, line, path)
      : null;
    return [steps ?? stepsOf(recipe, line)];
  });
  found.sort((a, b) => lengthOf(a) - lengthOf(b));
  for (const steps of found) {
    const code = await programOf(steps).catch(() => null);
    if (code === null) continue;
    const shapes = await shapesOfSteps(steps);
    const dtypes = await dtypesOfSteps(steps);
    return { code, shapes, dtypes, errors: await errorsOfSteps(steps, path) };
  }
  return null;
}

function calls(text, path) {
  return new RegExp(`(?<![\\w.])eg\\.${path.replaceAll(".", "\\.")}\\(`).test(text);
}

const lengthOf = (steps) => steps.reduce((sum, { code }) => sum + code.length, 0);

// The line, those that it needs, and of a class the first use of the object.
function stepsOf(recipe, line) {
  const needed = new Set();
  const need = (i) => {
    if (needed.has(i)) return;
    for (const [, k] of recipe[i].matchAll(/\$(\d+)/g)) need(Number(k));
    needed.add(i);
  };
  need(line);
  const use = recipe.findIndex(
    (text, i) => i > line && !text.startsWith("!") && text.includes(`$${line}`),
  );
  const isObject = recipe[line].startsWith("new ");
  if (isObject && use >= 0) need(use);
  const lines = [...needed].sort((a, b) => a - b);
  const names = namesOf(recipe, lines);
  const last = lines.at(-1);
  return lines.map((i) => ({
    name: names.get(i),
    code: recipe[i].replaceAll(/\$(\d+)/g, (_, k) => names.get(Number(k)) ?? `$${k}`),
    isShown: i === last || i === line,
  }));
}

function namesOf(recipe, lines) {
  const taken = new Map();
  const names = new Map();
  for (const i of lines) {
    const base = baseName(recipe[i]);
    const count = (taken.get(base) ?? 0) + 1;
    taken.set(base, count);
    names.set(i, count === 1 ? base : `${base}${count}`);
  }
  return names;
}

// The kinds of objects by the beginning of the line that makes them.
const kNames = [
  [/^new eg\.nn\.\w*Loss\b/, "criterion"],
  [/^new eg\.nn\./, "layer"],
  [/^new eg\.optim\.lrScheduler\./, "scheduler"],
  [/^new eg\.optim\./, "optimizer"],
  [/^new eg\.distributions\.\w*Transform\b/, "transform"],
  [/^new eg\.distributions\./, "distribution"],
  [/^new eg\.data\.\w*Loader\b/, "loader"],
  [/^new eg\.data\.\w*Dataset\b/, "dataset"],
  [/^\[/, "list"],
  [/^eg\.(randn?|ones|zeros|tensor|arange|eye|full|randint)\(/, "x"],
];

function baseName(line) {
  return kNames.find(([pattern]) => pattern.test(line))?.[1] ?? "result";
}
