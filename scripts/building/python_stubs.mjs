// Type stubs of torch.Tensor, torch and torch.nn.functional, from the op table: names, parameters, defaults and descriptions.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";
import { declarations } from "./python_table.mjs";

const kTypes = {
  tensor: "Tensor",
  "tensor?": "Tensor | None",
  operand: "Operand",
  "operand?": "Operand | None",
  tensors: "Sequence[Tensor]",
  int: "_int",
  "int?": "_int | None",
  number: "_float",
  "number?": "_float | None",
  scalar: "_complex",
  "scalar?": "_complex | None",
  bool: "_bool",
  "bool?": "_bool | None",
  ints: "_int | Sequence[_int]",
  "ints?": "_int | Sequence[_int] | None",
  "numbers?": "Sequence[_float] | None",
  sizes: "_int | Sequence[_int | None]",
  padding: "_int | Sequence[_int] | _str",
  dtype: "dtype_",
  "dtype?": "dtype_ | None",
  choice: "_str | None",
  any: "Any",
};
const kKeywords = new Set([
  "from",
  "in",
  "is",
  "lambda",
  "not",
  "or",
  "and",
  "with",
  "as",
  "class",
  "def",
]);

/** Returns the text of _tensor.pyi. */
export function stubOfMethods() {
  const { lines, docs } = declarations();
  const methods = [...lines].flatMap(([name, line]) => {
    const [marks] = line.split(" ");
    if (!marks.includes("m")) return [];
    const plain = methodStub(name, line, docs.get(name));
    return marks.includes("i") ? [plain, methodStub(`${name}_`, line, docs.get(name))] : [plain];
  });
  const own = sourceOf("tensor_head.pyi.txt");
  return `${own.trimEnd()}\n\n    # The ops.\n\n${methods.join("\n")}\n`;
}

/** Returns the text of torch/__init__.pyi: what the package imports, its own functions, and the ops. */
export function stubOfTorch() {
  const source = sourceOf("__init__.py");
  const own = ownFunctions(sourceOf("_functions.py"));
  const { lines, docs, internal } = declarations();
  const imports = importsOf(source);
  const taken = new Set([...own.keys(), ...imports.flatMap(({ names }) => names), ...kParts]);
  // In nn.functional alone.
  taken.add("conv_tbc");
  const functions = [...lines]
    .filter(([name]) => !name.includes(".") && !internal.has(name) && !taken.has(snake(name)))
    .map(([name, line]) => functionStub(name, line, docs.get(name), "*, out: Any = ..."));
  return `${kHead}
from ._types import Size as Size, device as device_, dtype as dtype_
${imports.map(({ from, names }) => `from ${from} import ${names.map((name) => `${name} as ${name}`).join(", ")}`).join("\n")}
from ._functions import ${[...own.keys()].map((name) => `${name} as ${name}`).join(", ")}
from . import ${kParts.map((name) => `${name} as ${name}`).join(", ")}

Operand = Tensor | _complex

${kDtypes.map((name) => `${name}: dtype_`).join("\n")}

${functions.join("\n")}

def __getattr__(name: _str) -> Any: ...
`;
}

/** Returns the text of torch/nn/functional.pyi. */
export function stubOfFunctional() {
  const own = ownFunctions(sourceOf("nn", "functional.py"));
  const { lines, docs } = declarations();
  const functions = functionalNames()
    .filter(([name]) => !own.has(snake(name)))
    .map(([name, source]) => {
      const line = lines.get(`nn.functional.${name}`) ?? lines.get(source);
      const more = kInPlace.includes(snake(name)) ? "inplace: _bool = ..." : "";
      if (line !== undefined) return functionStub(name, line, docs.get(name), more);
      return `def ${snake(name)}(input: Tensor, *args: Any, **keywords: Any) -> Tensor: ...`;
    });
  return `${kHead}
from .._tensor import Tensor
from .._types import dtype as dtype_

Operand = Tensor | _complex

${[...own.values(), ...functions].join("\n")}

def __getattr__(name: _str) -> Any: ...
`;
}

const kHead = `from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from typing import Any, Sequence
`;

const kParts = ["amp", "autograd", "distributions", "fft", "func", "linalg", "nn", "optim"];
kParts.push("random", "signal", "special", "utils");

const kDtypes =
  "float32 float float64 double float16 half bfloat16 complex64 cfloat complex128 cdouble complex32 chalf uint8 int8 int16 short int32 int int64 long bool".split(
    " ",
  );

// As in functional.py.
const kInPlace = [
  ..."celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu6 selu silu threshold".split(" "),
  ..."dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split(" "),
];

// What returns several tensors, of which the op table does not say how many.
const kSeveral = new Set(
  "split chunk unbind tensorSplit hsplit vsplit dsplit broadcastTensors meshgrid".split(" "),
);

function sourceOf(...path) {
  return readFileSync(
    join(kRoot, "web", "pyodide", "python", "edgegrad", "torch", ...path),
    "utf8",
  );
}

// The public functions of a source, with their heads as stubs.
function ownFunctions(source) {
  const heads = source.matchAll(/^(def ([a-z]\w*)\([\s\S]*?\) -> [^\n]*:)$/gm);
  const found = [...heads].map(([, head, name]) => [name, `${head} ...`]);
  return new Map(found.filter(([name]) => name !== "find"));
}

// What a package imports from its files under public names.
function importsOf(source) {
  const found = source.matchAll(/^from (\.+\w*) import (?:\(([^)]*)\)|([^\n(]*))$/gm);
  return [...found]
    .map(([, from, several, one]) => ({
      from,
      names: (several ?? one)
        .split(",")
        .map((name) => name.trim())
        .filter((name) => /^\w+$/.test(name) && !name.startsWith("_")),
    }))
    .filter(({ from, names }) => from !== "." && names.length > 0);
}

// What JavaScript's nn.functional exports: the names, and those of the ops.
function functionalNames() {
  const source = readFileSync(join(kRoot, "web", "src", "nn", "functional", "index.ts"), "utf8");
  const lists = [...source.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) =>
    list.split(","),
  );
  return lists
    .map((one) => one.trim().split(" as "))
    .map(([op, name = op]) => [name, op])
    .filter(([name]) => /^\w+[^\W_]$/.test(name))
    .sort();
}

function functionStub(name, line, doc, more) {
  const [head, results] = halves(line);
  const [, ...params] = head.split(" ").filter(Boolean);
  const written = [...params.map(paramStub), more].filter(Boolean).join(", ");
  const result = kSeveral.has(name) ? "tuple[Tensor, ...]" : results ? "Any" : "Tensor";
  const text = doc ? `\n    """${doc.replaceAll("\\", "\\\\")}"""` : " ...";
  return `def ${snake(name)}(${written}) -> ${result}:${text}`;
}

function methodStub(name, line, doc) {
  const [head, results] = halves(line);
  const [marks, ...params] = head.split(" ").filter(Boolean);
  if (marks.includes("f")) [params[0], params[1]] = [params[1], params[0]];
  const written = params.slice(1).map(paramStub);
  const result = name.endsWith("_") ? "Self" : results ? "Any" : "Tensor";
  const text = doc ? `\n        """${doc.replaceAll("\\", "\\\\")}"""` : " ...";
  return `    def ${snake(name)}(${["self", ...written].join(", ")}) -> ${result}:${text}`;
}

// A choice has such lines as well: "reduction:choice(none|mean|sum)=mean".
function halves(line) {
  const at = line.lastIndexOf("|");
  return [line.slice(0, at), line.slice(at + 1)];
}

function paramStub(word) {
  const [, name, kind, value] = /^(\w+):(\w+\??)(?:\([^)]*\))?(?:=(.*))?$/.exec(word) ?? [];
  const spelled = snake(name);
  const own = kKeywords.has(spelled) ? `${spelled}_` : spelled;
  return `${own}: ${kTypes[kind] ?? "Any"}${value === undefined ? "" : " = ..."}`;
}

/** Returns the spelling of a name in Python. */
function snake(name) {
  if (/^[A-Z]/.test(name)) return name;
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
