// What an example shows besides its output, found by running it: the shapes that go in and come out, the dtypes with which it also runs, and the errors that
// wrong arguments throw.

import { eg } from "../../../tests/js/support/engine.mjs";

const AsyncFunction = (async () => {}).constructor;

const kMostErrors = 4;

const kFloats = ["float32", "float64", "float16", "bfloat16"];

// The shapes of tensors anywhere in a value.
function shapesIn(value) {
  if (value instanceof eg.Tensor) return [value.shape];
  if (value instanceof Map) return [...value.values()].flatMap(shapesIn);
  return Array.isArray(value) ? value.flatMap(shapesIn) : [];
}

const shapeTexts = (shapes) => shapes.map((shape) => `[${shape.join(", ")}]`).join(", ");

/** Returns the arguments of a call, `callee(a, b)`, as texts; null for what is no call. */
export function argumentTexts(code) {
  const open = code.indexOf("(");
  if (open < 0 || !code.endsWith(")")) return null;
  const texts = [];
  let depth = 0;
  let from = open + 1;
  let quote = null;
  for (let i = open + 1; i < code.length; i++) {
    const sign = code[i];
    if (quote !== null) {
      if (sign === quote) quote = null;
    } else if (`"'\``.includes(sign)) quote = sign;
    else if ("([{".includes(sign)) depth++;
    else if (")]}".includes(sign)) {
      if (depth-- > 0) continue;
      // A method of the result is called.
      if (i < code.length - 1) return null;
      if (i > from) texts.push([from, i]);
    } else if (sign === "," && depth === 0) {
      texts.push([from, i]);
      from = i + 1;
    }
  }
  return texts.map(([start, end]) => ({ start, end, text: code.slice(start, end).trim() }));
}

async function valuesOf(steps) {
  const names = [];
  const values = [];
  for (const { name, code } of steps) {
    const value = await run(code, names, values);
    if (name === undefined) continue;
    names.push(name);
    values.push(value);
  }
  return { names, values };
}

function run(code, names, values) {
  return new AsyncFunction("eg", ...names, `return ${code};`)(eg, ...values);
}

/** Returns "[2, 3] → [2]" for each call of the steps { name, code } that takes or returns tensors. */
export async function shapesOfSteps(steps) {
  const lines = [];
  for (let i = 0; i < steps.length; i++) {
    const { code } = steps[i];
    const isCall =
      /^(\w+\.call|eg\.[\w.]+)\(/.test(code) &&
      !/^eg\.(randn?|ones|zeros|tensor|arange|eye|full|randint)\(/.test(code);
    const given = isCall ? argumentTexts(code) : null;
    if (given === null) continue;
    const { names, values } = await valuesOf(steps.slice(0, i));
    const args = await run(`[${given.map(({ text }) => text).join(", ")}]`, names, values).catch(
      () => [],
    );
    const result = await run(code, names, values).catch(() => null);
    const [before, after] = [shapesIn(args), shapesIn(result)];
    if (before.length > 0 && after.length > 0)
      lines.push(`${shapeTexts(before)} → ${shapeTexts(after)}`);
  }
  return [...new Set(lines)];
}

/** Returns the dtypes with which steps run that make tensors of the default dtype; null if they make none. */
export async function dtypesOfSteps(steps) {
  if (!steps.some(({ code }) => /eg\.(randn?|ones|zeros|tensor)\(/.test(code))) return null;
  const found = [];
  for (const dtype of kFloats) {
    eg.setDefaultDtype(dtype === "float64" ? "float64" : "float32");
    const used = steps.map((step) => ({ ...step, code: withDtype(step.code, dtype) }));
    const runs = await valuesOf(used).then(
      () => true,
      () => false,
    );
    if (runs) found.push(dtype);
  }
  eg.setDefaultDtype("float32");
  return found;
}

// The default dtype is one of two; others are written into the calls.
function withDtype(code, dtype) {
  if (dtype === "float32" || dtype === "float64") return code;
  const made = code.replaceAll(
    /eg\.(?:randn?|ones|zeros)\(\[[\d, ]*\]\)/g,
    (call) => `${call}.to("${dtype}")`,
  );
  return /^new eg\.nn\.\w+\(/.test(made) && !/Loss\(/.test(made) ? `${made}.to("${dtype}")` : made;
}

// What calls with wrong arguments throw, as [code, message].
async function errorsOf(variants) {
  const found = new Map();
  for (const variant of variants) {
    try {
      await variant();
    } catch (error) {
      const { code, message } = error;
      if (!(error instanceof eg.EdgeGradError) || (found.get(code)?.length ?? 0) > 1) continue;
      found.set(code, [...new Set([...(found.get(code) ?? []), message])]);
    }
  }
  return [...found]
    .flatMap(([code, messages]) => messages.map((message) => [code, message]))
    .slice(0, kMostErrors);
}

// Arguments that hardly any function takes in the place of the given one.
function wrongTexts(text, isTensor) {
  if (!isTensor) return /^\d|^-\d/.test(text) ? ['"text"', "-7"] : ['"text"', "null"];
  return [
    '"text"',
    "eg.ones([7, 1, 11, 1, 13])",
    'eg.ones([2, 3], { dtype: "bool" })',
    "eg.complex(eg.ones([2, 3]), eg.ones([2, 3]))",
  ];
}

/** Returns the errors of the last step that calls `eg.PATH(...)` or an object's call(), with each of its arguments replaced. */
export async function errorsOfSteps(steps, path) {
  const variants = [];
  const own = new RegExp(`^(new )?eg\\.${path.replaceAll(".", "\\.")}\\(`);
  for (let i = 0; i < steps.length; i++) {
    const { code } = steps[i];
    if (!own.test(code) && !/^\w+\.(call|step|sample|logProb)\(/.test(code)) continue;
    const given = argumentTexts(code) ?? [];
    for (const { start, end, text } of given) {
      const isTensor =
        /^eg\.(randn?|ones|zeros|tensor|randint|complex)\b|^(x|input|target|other)\d*$/.test(text);
      for (const wrong of wrongTexts(text, isTensor))
        variants.push(() => runWith(steps, i, code.slice(0, start) + wrong + code.slice(end)));
    }
    const last = given.at(-1);
    if (last?.text.startsWith("{"))
      variants.push(() =>
        runWith(
          steps,
          i,
          `${code.slice(0, last.end - 1).replace(/\{\s*$/, "{ ")}${last.text === "{}" ? "" : ","} unknownOption: 1 })`,
        ),
      );
  }
  return errorsOf(variants);
}

// What a call of these with a wrong argument changes stays.
const kLasting =
  /^(init|shutdown|spawn|expose|keep|preload|warmup|onDeviceLost|deviceLost|addDevtoolsFormatter|set\w+|autograd\.set\w+|autograd\.profile|memory|runtime)$/;

/** Returns the errors of a function or class of the core that is called with wrong arguments: for those whose examples are no calls of it alone. */
export async function errorsOfCall(path) {
  if (kLasting.test(path)) return [];
  const isClass = /^[A-Z]/.test(path.split(".").at(-1));
  const called = `${isClass ? "new " : ""}eg.${path}`;
  const calls = ["", '"text"', "-7", '"text", "text"'].map((args) => `${called}(${args})`);
  if (isClass && path.startsWith("nn."))
    calls.unshift(
      `${called}().call("text")`,
      `${called}().call(eg.ones([2, 3], { dtype: "bool" }))`,
    );
  return errorsOf(
    calls.map((code) => async () => {
      const handle = await run(code, [], []);
      handle?.remove?.();
    }),
  );
}

async function runWith(steps, i, code) {
  const { names, values } = await valuesOf(steps.slice(0, i));
  return run(code, names, values);
}
