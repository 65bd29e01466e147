// Type stubs of the methods of torch.Tensor, from the op table: names, parameters, defaults and descriptions.

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
  const own = readFileSync(
    join(kRoot, "web", "pyodide", "python", "edgegrad", "torch", "tensor_head.pyi.txt"),
    "utf8",
  );
  return `${own.trimEnd()}\n\n    # The ops.\n\n${methods.join("\n")}\n`;
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
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
