// Writes web/src/generated/{op_lines,ops,methods,internal,elementwise}.ts from web/src/generated/op_table.json:
// the signature of every op, every op as a function, the types of the ops that are methods of Tensor, the ops that only the
// package calls, and the number of elementwise ops; and the names and numbers of the engine's parts. `--check` compares instead of
// writing, and exits with 1 if a file differs.

import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { kRoot, main } from "../process.mjs";
import { copiesOfParts } from "../split/parts.mjs";
import { camelCase } from "./native_functions.mjs";

const kFolder = join(kRoot, "web", "src", "generated");
const kHeader =
  "// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.\n";

// Names that JavaScript does not allow for a constant. They are still exported under their own name.
const kReserved = new Set(["var", "with", "in", "new", "delete", "switch", "default", "function"]);

const kTypes = {
  tensor: "Tensor",
  "tensor?": "Tensor | null",
  operand: "Operand",
  "operand?": "Operand | null",
  tensors: "readonly Tensor[]",
  int: "number",
  "int?": "number | null",
  number: "number",
  "number?": "number | null",
  scalar: "Scalar",
  "scalar?": "Scalar | null",
  bool: "boolean",
  "bool?": "boolean | null",
  ints: "Ints",
  "ints?": "Ints | null",
  "numbers?": "number | readonly number[] | null",
  sizes: "OutputSize",
  padding: 'Ints | "valid" | "same"',
  dtype: "DType",
  "dtype?": "DType | null",
};

// Returns the type of an op's result when it is several tensors: a tuple if their number is known.
function severalOf({ results }) {
  return results ? `[${results.map((name) => `${name}: Tensor`).join(", ")}]` : "Tensor[]";
}

function returnsOf(op) {
  if (op.returns === "tensor") return "Tensor";
  return op.returns === "tensors" ? severalOf(op) : `Tensor | ${severalOf(op)}`;
}

/** Returns the generated files by name. */
export function generate(table) {
  const ops = table.ops.map(readOp);
  const [internal, rest] = [true, false].map((wanted) =>
    ops.filter((op) => isInternal(op) === wanted),
  );
  return {
    "elementwise.ts": elementwiseFile(ops),
    "op_lines.ts": linesFile(ops),
    "ops.ts": functionsFile(rest),
    "methods.ts": methodsFile(rest),
    "internal.ts": functionsFile(internal),
  };
}

const isInternal = ({ kind }) => kind === "internal";

// Numbers that are factors of an operand, and the operand: dispatch/complex_numbers.ts multiplies it by a complex number.
const kFactors = {
  add: { alpha: "other" },
  sub: { alpha: "other" },
  addcmul: { value: "tensor1" },
  addcdiv: { value: "tensor1" },
  addmm: { beta: "input", alpha: "mat1" },
  baddbmm: { beta: "input", alpha: "batch1" },
  addmv: { beta: "input", alpha: "vec" },
  addr: { beta: "input", alpha: "vec1" },
  addbmm: { beta: "input", alpha: "batch1" },
  indexAdd: { alpha: "source" },
};

function readOp(entry) {
  const factors = kFactors[entry.js] ?? {};
  const args = entry.args.map((arg) => {
    return factors[arg.name]
      ? { ...arg, choices: [factors[arg.name]], isFactor: true }
      : { ...arg };
  });
  // A function with one operand takes a tensor; for numbers there is Math.
  const operands = args.filter((arg) => arg.type === "operand");
  if (operands.length === 1 && operands[0] === args[0]) args[0].only = "Tensor";
  const isFactory = entry.kind === "factory";
  if (isFactory && !args.some((arg) => arg.name === "dtype"))
    args.push({ name: "dtype", type: "dtype?", default: "null" });
  const isMethod = !isFactory && ["tensor", "operand"].includes(args[0]?.type);
  // dispatch/methods.ts derives the JavaScript name from the name of the op.
  if (camelCase(entry.name) !== entry.js)
    throw new Error(`${entry.js} is not the camelCase form of ${entry.name}`);
  // In Markdown, "[values, indices]: ..." would define a link, and the sentence would not be shown.
  const doc = entry.doc.replace(/^(\[[^\]]*\]):/, "`$1`:");
  return { ...entry, args, isMethod, writes: entry.js.endsWith("_"), doc };
}

function functionsFile(ops) {
  const functions = ops.flatMap((op) => [functionOf(op), ...(op.inplace ? [inPlaceOf(op)] : [])]);
  return file(functions.join("\n"));
}

function elementwiseFile(ops) {
  const isElementwise = ({ kind }) => kind === "elementwise";
  const count = ops.filter(isElementwise).length;
  if (!ops.slice(0, count).every(isElementwise)) {
    throw new Error("the elementwise ops must come first in the op table");
  }
  return `${kHeader}
/** The number of elementwise ops, which have the ids from 0 to this number - 1. */
export const kElementwiseCount = ${count};
`;
}

// A single string, which takes a third of the download size of separate calls with the same words.
function linesFile(ops) {
  const lines = ops.map((op) => `${op.name}:${marksOf(op)} ${signatureLine(op)}`);
  return `${kHeader}
/** One line for each op, in the order of their ids; dispatch/op_lines.ts parses them. */
export const kOpLines = \`\\
${lines.join("\n")}\`;
`;
}

function marksOf(op) {
  const marks = {
    m: op.isMethod && !isInternal(op),
    f: op.isOfSecond,
    i: op.inplace,
    g: op.takesGenerator,
    s: op.returns === "tensors",
    o: op.returns === "tensor_or_tensors",
  };
  return Object.keys(marks)
    .filter((mark) => marks[mark])
    .join("");
}

function methodsFile(ops) {
  const methods = ops.filter((op) => op.isMethod).flatMap(methodDeclarations);
  return file(`/** The ops as methods: the tensor is their first argument, or what PyTorch calls them on. */
export interface TensorMethods {
${methods.map((line) => `  ${line}\n`).join("")}}
`);
}

// Returns the text of a file in this folder, with imports of the names that `body` uses.
function file(body) {
  const lines = Object.entries(kImports).flatMap(([path, list]) => {
    const names = list.filter((name) =>
      new RegExp(`\\b${name.replace("type ", "")}\\b`).test(body),
    );
    if (names.length === 0) return [];
    const text = names.join(", ");
    const areTypes = names.every((name) => name.startsWith("type "));
    const what = areTypes ? `type { ${text.replaceAll("type ", "")} }` : `{ ${text} }`;
    return [`import ${what} from "${path}";`];
  });
  return `${kHeader}\n${lines.join("\n")}\n\n${body}`;
}

const kImports = {
  "../dispatch/define.js": ["define", "defineFactory", "defineInPlace"],
  "../dispatch/with_generator.js": ["withGenerator"],
  "../dispatch/same_size.js": ["sameSized"],
  "../arguments/generator.js": ["type GeneratorOption"],
  "../dispatch/types.js": ["type Ints", "type Operand", "type OutputSize", "type Scalar"],
  "../tensor/dtype.js": ["type Complex", "type DType"],
  "../tensor/factory_options.js": ["type TensorOptions"],
  "../tensor/tensor.js": ["type Tensor"],
};

// ---------------------------------------------------------------- functions

// Losses that take an input and a target of different shapes, as PyTorch does with a warning.
const kDifferenceLosses = new Set(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]);

function functionOf(op) {
  const definer = op.writes ? "defineInPlace" : op.kind === "factory" ? "defineFactory" : "define";
  const defined = definition(definer, op);
  const wrapper = op.takesGenerator
    ? "withGenerator"
    : kDifferenceLosses.has(op.name)
      ? "sameSized"
      : null;
  const value = wrapper === null ? defined : `${wrapper}(${defined})`;
  return constant(op.js, op.doc, signatures(op, op.args), value);
}

function inPlaceOf(op) {
  const [first, ...rest] = op.args;
  const args = [{ ...first, only: "Tensor" }, ...rest];
  const doc = `Like ${op.js}(), but writes the result into ${first.name} and returns it.`;
  const types = signatures({ ...op, returns: "tensor" }, args);
  return constant(`${op.js}_`, doc, types, definition("defineInPlace", op));
}

const definition = (definer, { name }) => `${definer}(${JSON.stringify(name)})`;

function constant(name, doc, types, value) {
  const [before, local, after] = kReserved.has(name)
    ? ["", `${name}Op`, `export { ${name}Op as ${name} };\n`]
    : ["export ", name, ""];
  const lines = types.map((type) => `  ${type};\n`).join("");
  return `/** ${doc} */\n${before}const ${local}: {\n${lines}} = ${value};\n${after}`;
}

// Returns the part of a line that dispatch/signature.ts parses.
function signatureLine(op) {
  return op.args
    .map(({ name, type, choices, default: value }) => {
      const list = choices ? `(${choices.join("|")})` : "";
      return `${name}:${type}${list}${value === undefined ? "" : `=${literal(value)}`}`;
    })
    .join(" ");
}

// Returns a default, which the table holds as a JavaScript expression, without spaces and quotes.
function literal(text) {
  const value = new Function(`return ${text};`)();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

// ---------------------------------------------------------------- types

function typeOf(arg) {
  const type = arg.type === "choice" ? choicesOf(arg) : (arg.only ?? kTypes[arg.type]);
  if (type) return arg.isFactor || arg.name === "fillValue" ? `${type} | Complex` : type;
  throw new Error(`op_table.json: argument ${arg.name} has the unknown type ${arg.type}`);
}

// null is a choice, written as "null" in the table.
const choicesOf = ({ choices }) =>
  choices.map((choice) => (choice === "null" ? choice : JSON.stringify(choice))).join(" | ");

const isRequired = (arg) => arg.default === undefined;

// Returns the name of a positional parameter in a signature; it cannot be `var`.
const parameter = ({ name }) => (kReserved.has(name) ? `${name}_` : name);

// For each type of the argument that decides between one tensor and several, its type in each case.
const kDeciders = {
  bool: { one: "false", several: "true" },
  "int?": { one: "null", several: "number" },
  "operand?": { one: "Tensor | null", several: "number" },
};

function signatures(op, args, returns = returnsOf(op)) {
  const decider = args.find((arg) => arg.name === op.severalWith);
  if (!decider) return signaturesOf(op, args, returns);
  const { one, several } = kDeciders[decider.type];
  const decided = (change) => args.map((arg) => (arg === decider ? { ...arg, ...change } : arg));
  return [
    ...signaturesOf(op, decided({ only: one }), "Tensor"),
    ...signaturesOf(op, decided({ only: several, isGiven: true }), severalOf(op)),
    ...signaturesOf(op, args, returns),
  ];
}

// One signature with all parameters by position, and one for each number of positional parameters followed by an object
// with the others.
function signaturesOf(op, args, returns) {
  const firstOptional = args.findIndex((arg) => !isRequired(arg));
  const required = firstOptional < 0 ? args.length : firstOptional;
  const more = moreOptions(op);
  const list = [];
  const add = (parameters) => list.push(`(${parameters.join(", ")}): ${returns}`);
  const visible = op.kind === "factory" ? args.filter((arg) => arg.name !== "dtype") : args;
  // A positional parameter requires all those before it.
  const given = visible.findLastIndex((arg) => isRequired(arg) || arg.isGiven);
  add([
    ...visible.map((arg, i) => `${parameter(arg)}${i <= given ? "" : "?"}: ${typeOf(arg)}`),
    ...(more ? [`options?: ${more}`] : []),
  ]);
  for (let count = required; count < visible.length; count++) {
    const positional = visible.slice(0, count).map((arg) => `${parameter(arg)}: ${typeOf(arg)}`);
    const named = visible
      .slice(count)
      .map((arg) => `${arg.name}${arg.isGiven ? "" : "?"}: ${typeOf(arg)}`);
    add([...positional, `options: { ${named.join("; ")} }${more ? ` & ${more}` : ""}`]);
  }
  if (!isVariadic(op)) return list;
  const spread = spreadSignatures(visible, returns, more);
  // TypeScript compares a call that fits no signature with the last one: so it names the option that a misspelled one resembles.
  return more ? [...spread, ...list] : [...list, ...spread];
}

// Returns the type of the options that are not arguments of the engine's op.
function moreOptions(op) {
  const base = op.kind === "factory" ? ["TensorOptions"] : [];
  return [...base, ...(op.takesGenerator ? ["GeneratorOption"] : [])].join(" & ");
}

function isVariadic(op) {
  const lists = op.args.filter((arg) => arg.type === "ints");
  const last = op.args.filter((arg) => arg.type !== "dtype?").pop();
  return lists.length === 1 && last === lists[0] && isRequired(last);
}

// Allows reshape(2, 3) in addition to reshape([2, 3]).
function spreadSignatures(args, returns, more) {
  const before = args.slice(0, -1).map((arg) => `${parameter(arg)}: ${typeOf(arg)}`);
  const { name } = args[args.length - 1];
  const plain = `(${[...before, `...${name}: number[]`].join(", ")}): ${returns}`;
  if (!more) return [plain];
  const withOptions = [...before, `...${name}AndOptions: [...number[], ${more}]`];
  return [plain, `(${withOptions.join(", ")}): ${returns}`];
}

function methodDeclarations(op) {
  const rest = op.args.toSpliced(op.isOfSecond ? 1 : 0, 1);
  const declare = (name, doc, returns) => [
    `/** ${doc} */`,
    ...signatures({ ...op, args: op.args }, rest, returns).map((type) => `${name}${type};`),
  ];
  const own = declare(op.js, op.doc, op.writes ? "this" : returnsOf(op));
  if (!op.inplace) return own;
  return [...own, ...declare(`${op.js}_`, `Like ${op.js}(), but in place.`, "this")];
}

// ---------------------------------------------------------------- files

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const { check } = parseArgs({ options: { check: { type: "boolean" } } }).values;
    const table = JSON.parse(readFileSync(join(kFolder, "op_table.json"), "utf8"));
    const generated = Object.entries(generate(table));
    const files = [
      ...generated.map(([name, text]) => [join(kFolder, name), text]),
      ...copiesOfParts(),
    ].filter(([file, text]) => readFileSync(file, "utf8") !== text);
    for (const [file, text] of files) {
      if (check) console.error(`${relative(kRoot, file)} is out of date: run npm run generate`);
      else writeFileSync(file, text);
    }
    return check && files.length > 0 ? 1 : 0;
  });
}
