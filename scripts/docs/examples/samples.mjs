// Examples of ops and composites, from their sample calls.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compositeTable } from "../../../tests/js/support/composite_samples.mjs";
import { eg } from "../../../tests/js/support/engine.mjs";
import { callOp, opTable, samplesOf } from "../../../tests/js/support/op_samples.mjs";
import { kRoot } from "../../process.mjs";
import { errorsOfSteps } from "./measured.mjs";
import { programOf } from "./program.mjs";
import { argumentsOf } from "./text.mjs";

// The signatures of composites, by their names: "input:tensor p:number=2".
const kSignatures = new Map(
  sourcesOf("web/src/composites").flatMap((text) =>
    [...text.matchAll(/\(\s*"([\w.]+)",\s*"([\w]+:[^"]*)"/g)].map(([, name, given]) => [
      name,
      given,
    ]),
  ),
);

function sourcesOf(folder) {
  return readdirSync(join(kRoot, folder), { recursive: true })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(kRoot, folder, name), "utf8"));
}

/** The public ops and composites: { js, args: [{ name, type, default }], samples }. */
export const kOps = [...opTable.filter(({ kind }) => kind !== "internal"), ...compositeTable].map(
  (op) => ({ ...op, args: op.args.length > 0 ? op.args : argsOf(op.js) }),
);

function argsOf(js) {
  const signature = kSignatures.get(js) ?? "";
  return [...signature.matchAll(/(\w+):(\S+?)(?:=(\S+))?(?=\s|$)/g)].map(
    ([, name, type, given]) => ({ name, type, ...(given === undefined ? {} : { default: given }) }),
  );
}

/** Returns [name, { text, shapes, errors }] for an op and for its form in place. */
export async function exampleOf(op) {
  const sample = simplest(op);
  const shapes = shapesOf(op);
  const examples = [[op.js, { ...(await called(op, op.js, sample)), shapes }]];
  const inPlace = `${op.js}_`;
  if (op.inplace && eg[inPlace] !== undefined)
    examples.push([inPlace, { ...(await called(op, inPlace, sample)), shapes }]);
  return examples;
}

// The shapes of operands and results, "[2, 3], [3] → [2, 3]", of all samples.
function shapesOf(op) {
  const lines = samplesOf(op).map(({ make }) =>
    eg.scope(() => {
      const args = make();
      const given = args.flat().filter((arg) => arg instanceof eg.Tensor);
      const results = callOp(op, args).filter((result) => result instanceof eg.Tensor);
      return `${shapeTexts(given)} → ${shapeTexts(results)}`.trim();
    }),
  );
  return [...new Set(lines)];
}

const shapeTexts = (tensors) => tensors.map(({ shape }) => `[${shape.join(", ")}]`).join(", ");

function simplest(op) {
  if (op.kind !== "elementwise") return op.samples[0];
  const operands = op.args.filter(({ type }) => type === "operand");
  // Their domains leave out kinks and one side of zero, which matter to finite differences only.
  if (op.family === "Activations" && operands.length === 1) return "T([4], -3, 3)";
  const limit = op.args.some(({ type }) => type === "operand?") ? ["1"] : [];
  return operands
    .map(({ name }, i) => {
      const [low, high] = op.domains[i];
      if (op.isOfIntegers) return "I([3], 7)";
      if (low < high) return `T([3], ${low}, ${high})`;
      return ["condition", "mask"].includes(name) ? "B([3])" : String(low);
    })
    .concat(limit)
    .join(", ");
}

async function called(op, path, sample) {
  const given = argumentsOf(sample, op.js);
  const isInPlace = path.endsWith("_");
  // A number cannot be written into.
  if (isInPlace && !given[0].isTensor)
    given[0] = { text: `eg.full([3], ${given[0].text})`, isTensor: true };
  const steps = [];
  const texts = given.map(({ text, isTensor }, i) => {
    if (!isTensor) return text;
    const name = nameOf(op, i);
    steps.push({ name, code: text });
    return name;
  });
  const call = `eg.${path}(${texts.join(", ")})`;
  const errors = await errorsOfSteps([...steps, { code: call }], path);
  const shown = isInPlace
    ? [{ code: call }, { code: texts[0], isShown: true }]
    : [{ code: call, isShown: true }];
  return { text: await programOf([...steps, ...shown]), errors };
}

const kOther = ["input", "other", "third", "fourth", "fifth", "sixth"];
const kReserved = ["var", "value"];

function nameOf({ args }, i) {
  const name = args[i]?.name ?? kOther[i] ?? `given${i}`;
  return kReserved.includes(name) ? `${name}s` : name;
}
