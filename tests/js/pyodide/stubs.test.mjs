// The type stubs in the wheel: they parse, and what they declare is there with these parameters.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  stubOfFunctional,
  stubOfMethods,
  stubOfTorch,
} from "../../../scripts/building/python_stubs.mjs";
import { run, startPython } from "./support/python.mjs";

const python = await startPython();

// For each function of a stub: is it there, and does the op have these parameters, with the same ones required?
const kCompare = `
import ast, importlib
from edgegrad.torch._calls import camel
from edgegrad.torch._declared import Declared, line_of

def compare(path, module, text):
    owner = importlib.import_module(module)
    wrong = []
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name != "__getattr__"]
    for node in functions:
        if not callable(getattr(owner, node.name, None)):
            wrong.append(f"{node.name}: is not there")
            continue
        line = line_of(path, camel(node.name))
        if line is None or ast.get_docstring(node) is None:
            continue
        args = node.args.args
        required = len(args) - len(node.args.defaults)
        declared = Declared(node.name, line)
        stub = [(arg.arg.rstrip("_"), place < required) for place, arg in enumerate(args) if arg.arg != "inplace"]
        own = [(param.name, param.required) for param in declared.params]
        if stub != own:
            wrong.append(f"{node.name}: {stub} instead of {own}")
    return len(functions), "\\n".join(wrong)
compare`;

const compare = run(python, kCompare);

describe("the stubs of", () => {
  for (const [path, module, text, least] of [
    ["", "edgegrad.torch", stubOfTorch(), 300],
    ["nn.functional", "edgegrad.torch.nn.functional", stubOfFunctional(), 100],
  ]) {
    test(module, () => {
      const [count, wrong] = compare(path, module, text).toJs();
      assert.equal(wrong, "");
      assert.ok(count > least, `${count} functions`);
    });
  }

  test("Tensor parse", () => {
    run(python, `import ast; ast.parse(${JSON.stringify(stubOfMethods())}); None`);
  });
});
