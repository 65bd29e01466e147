// Calls of ops in the table and of composites: their samples with parts replaced, or arguments generated from the types
// in the table alone.

import { readFileSync } from "node:fs";
import { kCompositeCalls } from "../js/support/composite_calls.mjs";
import { anything, list, number, scalar, wholeNumber, wrongType } from "./hostile.mjs";
import { newTensor } from "./tensors.mjs";

const kTable = new URL("../../web/src/generated/op_table.json", import.meta.url);

/** The ops that users can call, including composites. */
export const kOps = [
  ...JSON.parse(readFileSync(kTable, "utf8")).ops.filter(({ kind }) => kind !== "internal"),
  ...Object.entries(kCompositeCalls).map(([js, samples]) => ({
    js,
    kind: "composite",
    args: [],
    samples,
  })),
];

const kIntegers = ["int32", "int64", "uint8", "bool"];

const kDTypes = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
  "float16",
  "bfloat16",
  "int8",
  "int16",
  "complex32",
  "float8_e4m3fn",
  "float8_e5m2",
  "uint16",
  "uint32",
  "uint64",
];

/** Adds a call of some op on the tensors of a program. */
export function opCall(random, program) {
  const op = random.pick(kOps);
  const samples = samplesOf(op);
  const args =
    samples.length > 0 && (op.kind === "composite" || random.chance(0.5))
      ? mutated(random, program, op, random.pick(samples))
      : op.args.slice(0, countOf(random, op)).map((arg) => argument(random, program, arg));
  if (random.chance(0.02)) args.push(anything(random));
  const name = op.inplace && random.chance(0.3) ? `${op.js}_` : op.js;
  // Calls that may modify an operand: a trailing underscore, running statistics according to the table, or rows that
  // are rescaled to a maximum norm.
  const mayChange =
    name.endsWith("_") ||
    name === "embeddingBag" ||
    op.args.some((arg) => arg.name.startsWith("running"));
  program.run(write(random, program, op, name, args), { mayChange });
}

// Returns a number of arguments: all required ones, and some of the others.
function countOf(random, op) {
  const required = op.args.filter((arg) => arg.default === undefined).length;
  const count = required + random.int(op.args.length - required + 1);
  return random.chance(0.02) ? random.int(count + 1) : count;
}

function mutated(random, program, op, sample) {
  const args = sample.map(({ make }) => make(random, program));
  const most = Math.max(op.args.length, sample.length);
  for (let i = random.int(3); i > 0; i--) {
    const at = random.int(Math.min(most, args.length + 1));
    while (args.length < at) args.push("undefined");
    args[at] = argument(random, program, op.args[at] ?? sample[at]);
  }
  return args;
}

function write(random, program, op, name, args) {
  const first = op.args.findIndex((arg, i) => i > 0 && arg.default !== undefined);
  if (first > 0 && first < args.length && random.chance(0.3)) {
    const named = args
      .splice(first)
      .map((text, i) => `${op.args[first + i]?.name ?? "extra"}: ${text}`);
    args.push(`{ ${named.join(", ")} }`);
  }
  // A method is called only on a value that is certainly a tensor; otherwise the error would be the program's own.
  const own = op.isOfSecond ? 1 : 0;
  const isMethod =
    !["factory", "composite"].includes(op.kind) &&
    program.isTensor(args[own]) &&
    random.chance(0.5);
  const isOfTensor = ["tensor", "operand"].includes(op.args[own]?.type);
  if (isMethod && isOfTensor) return `${args[own]}.${name}(${args.toSpliced(own, 1).join(", ")})`;
  return `eg.${name}(${args.join(", ")})`;
}

/** Returns an argument for a parameter in the op table, as text. */
function argument(random, program, { type, choices }) {
  if (random.chance(0.06)) return anything(random);
  if (type.endsWith("?")) {
    if (random.chance(0.3)) return "null";
    return argument(random, program, { type: type.slice(0, -1), choices });
  }
  switch (type) {
    case "tensor":
      return tensor(random, program);
    case "operand":
      return random.chance(0.75) ? tensor(random, program) : scalar(random);
    case "tensors":
      return tensors(random, program);
    case "int":
      return wholeNumber(random);
    case "number":
      return number(random);
    case "scalar":
      return scalar(random);
    case "bool":
      return random.pick(["true", "false"]);
    case "ints":
      return random.chance(0.3) ? wholeNumber(random) : list(random);
    case "sizes":
      return random.chance(0.3) ? random.pick(["null", "[null, 2]", "[null]"]) : list(random);
    case "numbers":
      return random.chance(0.5) ? number(random) : `[${number(random)}, ${number(random)}]`;
    case "padding":
      return random.chance(0.3) ? random.pick(['"same"', '"valid"']) : list(random);
    case "dtype":
      return `"${random.pick(kDTypes)}"`;
    case "choice":
      return JSON.stringify(random.pick(choices));
    case "options":
      return options(random, program, choices);
    case "any":
      return anything(random);
    default:
      throw new Error(`the op table has a new type, "${type}": add a generator for it here`);
  }
}

// Returns the options of a sample, with one of them replaced or an unknown one added.
function options(random, program, samples) {
  const texts = Object.entries(samples).map(([name, one]) => [name, one.make(random, program)]);
  const [name, one] = random.pick(Object.entries(samples));
  texts.push([random.chance(0.1) ? "notAnOption" : name, argument(random, program, one)]);
  return `{ ${texts.map(([key, text]) => `${key}: ${text}`).join(", ")} }`;
}

function tensor(random, program) {
  const { tensors } = program;
  if (tensors.length > 0 && random.chance(0.8)) return random.pick(tensors);
  return program.make(newTensor(random));
}

function tensors(random, program) {
  const count = random.weighted([
    [4, 2],
    [2, 1],
    [2, 3],
    [1, 0],
  ]);
  const one = tensor(random, program);
  if (random.chance(0.05)) return `Array(${random.pick(["40", "70", "300"])}).fill(${one})`;
  const texts = Array.from({ length: count }, () => tensor(random, program));
  if (random.chance(0.05)) texts.push(wrongType(random));
  return `[${texts.join(", ")}]`;
}

// ---------------------------------------------------------------- samples of the table

const kSamples = new Map();

// Returns each sample as functions that generate the text of an argument.
function samplesOf(op) {
  let samples = kSamples.get(op);
  if (samples === undefined) {
    samples = op.kind === "elementwise" ? [elementwiseSample(op)] : (op.samples ?? []).map(parse);
    kSamples.set(op, samples);
  }
  return samples;
}

function elementwiseSample(op) {
  const operands = op.args.filter(({ type }) => type === "operand");
  return operands.map((_, i) => {
    if (op.isOfIntegers) return { make: integers };
    const [low, high] = op.domains[i];
    return { make: low < high ? between("[2, 3]", low, high) : () => String(low) };
  });
}

function integers(random, program) {
  const dtype = random.pick(kIntegers);
  const top = dtype === "bool" ? 2 : 7;
  const low = dtype.startsWith("int") ? -3 : 0;
  return program.make(
    dtype === "bool"
      ? "eg.rand([2, 3]).lt(0.5)"
      : `eg.randint(${low}, ${top}, [2, 3], { dtype: "${dtype}" })`,
  );
}

// A sample is a list of arguments in which T, C, I, B and Q create tensors. Each argument becomes `make`, which generates
// its text, and the type of parameter that it is suitable for.
function parse(text) {
  const T = (shape, low = -2, high = 2) =>
    tensorArgument(between(JSON.stringify(shape), low, high));
  const fixed = (expression) => tensorArgument((_random, program) => program.make(expression));
  const C = (shape) => fixed(`eg.complex(eg.randn([${shape}]), eg.randn([${shape}]))`);
  const I = (shape, n) => fixed(`eg.randint(${n}, [${shape}])`);
  const B = (shape) => fixed(`eg.rand([${shape}]).lt(0.5)`);
  const Q = (shape) => fixed(`eg.randint(256, [${shape}], { dtype: "uint8" })`);
  const args = new Function("T", "C", "I", "B", "Q", `return [${text}];`)(T, C, I, B, Q);
  return args.map(argumentOf);
}

// Method calls on it are appended to the text of the tensor.
function tensorArgument(write) {
  const get = (self, name) => {
    if (name in self) return self[name];
    return (...args) =>
      tensorArgument((random, program) => {
        return program.make(`${write(random, program)}.${name}(${args.join(", ")})`);
      });
  };
  return new Proxy({ type: "tensor", make: write, isTensor: true }, { get });
}

function argumentOf(value) {
  if (value?.isTensor) return value;
  if (Array.isArray(value)) {
    const parts = value.map(argumentOf);
    const type = value.some((one) => one?.isTensor) ? "tensors" : "ints";
    const make = (...given) => `[${parts.map((one) => one.make(...given)).join(", ")}]`;
    return { type, make };
  }
  if (typeof value === "object" && value !== null) {
    const choices = Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, argumentOf(one)]),
    );
    const texts = (...given) =>
      Object.entries(choices).map(([name, one]) => `${name}: ${one.make(...given)}`);
    return { type: "options", choices, make: (...given) => `{ ${texts(...given).join(", ")} }` };
  }
  const make = () => (typeof value === "string" ? JSON.stringify(value) : String(value));
  return { type: kTypesOfValues[typeof value] ?? "any", make };
}

const kTypesOfValues = { number: "int", boolean: "bool" };

function between(shape, low, high) {
  return (random, program) => {
    const text = `eg.rand(${shape}).mul(${high - low}).add(${low})`;
    if (random.chance(0.4)) return program.make(`${text}.requiresGrad_()`);
    return program.make(random.chance(0.3) ? `${text}.to("${random.pick(kDTypes)}")` : text);
  };
}
