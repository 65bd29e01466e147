// Writes web/src/generated/{op_lines,ops,methods,internal,elementwise}.ts from web/src/generated/op_table.json:
// the signature of every op, every op as a function, the types of the ops that are methods of Tensor, the ops that only the
// package calls, and the hash by which the package recognises the matching WebAssembly module. `--check` compares instead of
// writing, and exits with 1 if a file differs.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { kRoot, main } from "./process.mjs";

const kFolder = join(kRoot, "web", "src", "generated");
const kHeader = "// Written by scripts/generate_ops.mjs from op_table.json. Do not edit.\n";

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
function severalOf(op) {
  return op.results ? `[${op.results.map((name) => `${name}: Tensor`).join(", ")}]` : "Tensor[]";
}

function returnsOf(op) {
  if (op.returns === "tensor") return "Tensor";
  return op.returns === "tensors" ? severalOf(op) : `Tensor | ${severalOf(op)}`;
}

/** Returns the generated files by name. */
export function generate(table) {
  const ops = table.ops.map(readOp);
  const isPublic = (op) => op.kind !== "internal";
  return {
    "elementwise.ts": elementwiseFile(ops),
    "op_lines.ts": linesFile(ops),
    "ops.ts": opsFile(ops.filter(isPublic)),
    "methods.ts": methodsFile(ops.filter(isPublic)),
    "internal.ts": internalFile(ops.filter((op) => !isPublic(op))),
  };
}

function readOp(entry) {
  const args = entry.args.map((arg) => ({ ...arg }));
  // A function with one operand takes a tensor; for numbers there is Math.
  const operands = args.filter((arg) => arg.type === "operand");
  if (operands.length === 1 && operands[0] === args[0]) args[0].only = "Tensor";
  const isFactory = entry.kind === "factory";
  if (isFactory && !args.some((arg) => arg.name === "dtype")) {
    args.push({ name: "dtype", type: "dtype?", default: "null" });
  }
  const isMethod = !isFactory && ["tensor", "operand"].includes(args[0]?.type);
  // dispatch/methods.ts derives the JavaScript name from the name of the op.
  if (camelCase(entry.name) !== entry.js)
    throw new Error(`${entry.js} is not the camelCase form of ${entry.name}`);
  return {
    ...entry,
    args,
    isMethod,
    writes: entry.js.endsWith("_"),
    doc: asMarkdown(entry.doc),
  };
}

const camelCase = (name) => name.replace(/(?<=.)_([a-z])/g, (_, letter) => letter.toUpperCase());

// In Markdown, "[values, indices]: ..." would define a link, and the sentence would not be shown.
function asMarkdown(doc) {
  return doc.replace(/^(\[[^\]]*\]):/, "`$1`:");
}

function opsFile(ops) {
  const functions = ops.map((op) =>
    op.inplace ? [functionOf(op), inPlaceFunctionOf(op)] : [functionOf(op)],
  );
  return file(functions.flat().join("\n"));
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
    m: op.isMethod && op.kind !== "internal",
    i: op.inplace,
    g: op.takesGenerator,
    s: op.returns === "tensors",
    o: op.returns === "tensor_or_tensors",
  };
  return Object.keys(marks)
    .filter((mark) => marks[mark])
    .join("");
}

function internalFile(ops) {
  return file(ops.map(functionOf).join("\n"));
}

function methodsFile(ops) {
  const methods = ops.filter((op) => op.isMethod);
  const lines = [
    "/** The ops as methods: the tensor is their first argument. */",
    "export interface TensorMethods {",
    ...methods.flatMap(methodDeclarations).map((line) => `  ${line}`),
    "}",
    "",
  ];
  return file(lines.join("\n"));
}

// Returns the text of a file in this folder, with imports of the names that `body` uses.
function file(body) {
  const named = [
    ["define", "../dispatch/define.js"],
    ["defineFactory", "../dispatch/define.js"],
    ["defineInPlace", "../dispatch/define.js"],
    ["drawing", "../dispatch/drawing.js"],
    ["sameSized", "../dispatch/same_size.js"],
    ["type GeneratorOption", "../arguments/generator.js"],
    ["type Ints", "../dispatch/types.js"],
    ["type Operand", "../dispatch/types.js"],
    ["type OutputSize", "../dispatch/types.js"],
    ["type Scalar", "../dispatch/types.js"],
    ["type TensorOptions", "../ops/create.js"],
    ["type DType", "../tensor/dtype.js"],
    ["type Tensor", "../tensor/tensor.js"],
  ].filter(([name]) => new RegExp(`\\b${name.replace("type ", "")}\\b`).test(body));
  const paths = [...new Set(named.map(([, path]) => path))];
  const lines = paths.map((path) => {
    const names = named.filter((entry) => entry[1] === path).map(([name]) => name);
    const areTypes = names.every((name) => name.startsWith("type "));
    const list = areTypes ? names.map((name) => name.slice(5)) : names;
    return `import ${areTypes ? "type " : ""}{ ${list.join(", ")} } from "${path}";`;
  });
  return `${kHeader}\n${lines.join("\n")}\n\n${body}`;
}

// ---------------------------------------------------------------- functions

// Losses that take an input and a target of different shapes, as PyTorch does with a warning.
const kOfDifferences = new Set(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]);

function functionOf(op) {
  const definer = op.writes ? "defineInPlace" : op.kind === "factory" ? "defineFactory" : "define";
  const defined = definition(definer, op);
  const wrapper = op.takesGenerator ? "drawing" : kOfDifferences.has(op.name) ? "sameSized" : null;
  const value = wrapper === null ? defined : `${wrapper}(${defined})`;
  return constant(op.js, op.doc, signatures(op, op.args), value);
}

function inPlaceFunctionOf(op) {
  const [first, ...rest] = op.args;
  const args = [{ ...first, only: "Tensor" }, ...rest];
  const doc = `Like ${op.js}(), but writes the result into ${first.name} and returns it.`;
  return constant(
    `${op.js}_`,
    doc,
    signatures({ ...op, returns: "tensor" }, args),
    definition("defineInPlace", op),
  );
}

function definition(definer, { name }) {
  return `${definer}(${JSON.stringify(name)})`;
}

function constant(name, doc, types, value) {
  const local = kReserved.has(name) ? `${name}Op` : name;
  const lines = [`/** ${doc} */`];
  lines.push(`${local === name ? "export " : ""}const ${local}: {`);
  lines.push(...types.map((type) => `  ${type};`), `} = ${value};`);
  if (local !== name) lines.push(`export { ${local} as ${name} };`);
  return `${lines.join("\n")}\n`;
}

// Returns the part of a line that dispatch/signature.ts parses.
function signatureLine(op) {
  return op.args
    .map(({ name, type, choices, default: value }) => {
      const list = choices ? `(${choices.join("|")})` : "";
      const text = value === undefined ? undefined : literal(value);
      return `${name}:${type}${list}${text === undefined ? "" : `=${text}`}`;
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
  if (arg.type === "choice") return arg.choices.map(choiceType).join(" | ");
  return arg.only ?? kTypes[arg.type] ?? unknownType(arg);
}

function unknownType(arg) {
  throw new Error(`op_table.json: argument ${arg.name} has the unknown type ${arg.type}`);
}

// null is a choice, written as "null" in the table.
const choiceType = (choice) => (choice === "null" ? "null" : JSON.stringify(choice));

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
  const isFactory = op.kind === "factory";
  const more = moreOptions(op);
  const list = [];
  const add = (parameters) => list.push(`(${parameters.join(", ")}): ${returns}`);
  const visible = isFactory ? args.filter((arg) => arg.name !== "dtype") : args;
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
  const rest = op.args.slice(1);
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
    const files = Object.entries(generate(table));
    if (!check) {
      for (const [name, text] of files) writeFileSync(join(kFolder, name), text);
      return 0;
    }
    const stale = files.filter(
      ([name, text]) => readFileSync(join(kFolder, name), "utf8") !== text,
    );
    for (const [name] of stale) console.error(`${name} is out of date: run npm run generate`);
    return stale.length ? 1 : 0;
  });
}
