// The output for an uncaught error: the message and the line in the user's code, without lines of the package.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runNode } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";

const kProgram = `
import * as eg from "edgegrad";
await eg.init({ variant: "simd", threads: 1 });
const [a, b] = [eg.ones([2, 3]), eg.ones([2, 4])];
class Net extends eg.nn.Module {
  fc = new eg.nn.Linear(5, 1);
  forward(x) {
    return this.fc.call(x);
  }
}
const net = new Net();
function mistake() {
  HERE;
}
`;

function run(line, call = "mistake();", options = []) {
  const text = kProgram.replace("HERE", line) + call;
  return runNode([...options, "--input-type=module", "--eval", text]);
}

/** Asserts that the output shows the user's function but no frame of the package. */
function assertOnlyOurs({ status, stderr }, functionName) {
  assert.equal(status, 1);
  assert.doesNotMatch(stderr, /dist.index\.js/);
  assert.match(
    stderr,
    new RegExp(`EdgeGradError \\[\\w+\\]: .*\\n(\\t.*\\n)?    at .*${functionName} .*eval`),
  );
  assert.ok(stderr.length < 2000, stderr);
}

const kShown = {
  "a method": ["a.add(b)", "mistake"],
  "a function": ["eg.matmul(a, a)", "mistake"],
  "an option": ["eg.ones([1], { requires_grad: true })", "mistake"],
  "a value of many": ["a.item()", "mistake"],
  "a gradient": ["a.sum().backward()", "mistake"],
  "a function in ours": ["eg.scope(() => eg.noGrad(function inner() { a.mul(b); }))", "inner"],
  "a layer in a model": ["net.call(a)", "Net.forward"],
  "a state dict": ["net.loadStateDict({})", "mistake"],
};

const kHidden = {
  "an operator": ["a * 2", "mistake"],
  "a layer's arguments": ["new eg.nn.Linear(2, -1)", "mistake"],
  "an initializer": ["eg.nn.init.xavierUniform_(eg.ones([1]))", "mistake"],
};

describe("an uncaught error", () => {
  for (const [what, [line, functionName]] of Object.entries(kShown)) {
    test(`of ${what} shows the user's line`, async () => {
      const output = await run(line);
      assertOnlyOurs(output, functionName);
      assert.match(output.stderr, /^file:.*eval\d*\]?:\d+\n.+\n +\^/);
    });
  }

  for (const [what, [line, functionName]] of Object.entries(kHidden)) {
    test(`of ${what} shows no line of ours`, async () => {
      assertOnlyOurs(await run(line), functionName);
    });
  }

  test("in a timer shows no line of ours", async () => {
    assertOnlyOurs(await run("a.add(b)", "setTimeout(mistake);"), "mistake"); // timer: it is what throws
  });

  test("shows the sources to those who ask for them", async () => {
    const { stderr } = await run("a.add(b)", "mistake();", ["--enable-source-maps"]);
    assert.match(stderr, /web.src.dispatch.call\.ts:\d+/);
    assert.match(stderr, /at mistake .*eval/);
  });
});

describe("the stack of an error", () => {
  const thrownBy = (fn) => {
    try {
      fn();
    } catch (error) {
      return error;
    }
    return assert.fail("nothing was thrown");
  };
  const fail = () => eg.ones([2]).add(eg.ones([3]));

  test("begins with the message and the caller, and may be written", () => {
    const error = thrownBy(fail);
    const [title, first] = error.stack.split("\n");
    assert.equal(title, `EdgeGradError [${error.code}]: ${error.message}`);
    assert.match(first, /at fail .*uncaught\.test\.mjs/);
    error.stack = "another";
    assert.equal(error.stack, "another");
    assert.deepEqual(Object.keys(error).sort(), ["code", "name"]);
  });

  test("keeps to the limit of the user, and leaves it as it is", () => {
    const { stackTraceLimit } = Error;
    const depths = [0, 1, 3].map((limit) => {
      Error.stackTraceLimit = limit;
      const error = thrownBy(fail);
      assert.equal(Error.stackTraceLimit, limit);
      return error.stack.split("\n").length - 1;
    });
    Error.stackTraceLimit = stackTraceLimit;
    assert.deepEqual(depths, [0, 1, 3]);
  });

  test("is shown where the language's own objects are frozen", async () => {
    const { stderr } = await run("a.add(b)", "mistake();", ["--frozen-intrinsics"]);
    assert.match(stderr, /EdgeGradError \[\w+\]: \[add\]/);
    assert.doesNotMatch(stderr, /dist.index\.js/);
  });

  test("has only the user's lines where a test runner applies source maps to it", async () => {
    const program = `
      const mapped = (error, sites) => {
        const lines = sites.map((site) => "\\n    at mapped " + site.getFunctionName() + " (/elsewhere.ts:1:1)");
        return String(error) + lines.join("");
      };
      Error.prepareStackTrace = mapped;
      const eg = await import("edgegrad");
      await eg.init({ variant: "simd", threads: 1 });
      function outer() {
        eg.scope(function inner() { eg.ones([2]).add(eg.ones([3])); });
      }
      try { outer(); } catch (error) { console.log(error.stack); }
      console.log(Error.prepareStackTrace === mapped);`;
    const { stdout } = await runNode(["--input-type=module", "--eval", program]);
    const [title, ...rest] = stdout.trim().split("\n");
    assert.match(title, /^EdgeGradError \[\w+\]: \[add\]/);
    const names = rest.map((line) => /at mapped (\S+)/.exec(line)?.[1] ?? line);
    assert.deepEqual(names, ["inner", "outer", "null", "true"]);
  });

  test("leaves no trace in Error", () => {
    const before = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
    thrownBy(fail);
    assert.deepEqual(Object.getOwnPropertyDescriptor(Error, "prepareStackTrace"), before);
  });

  test("is left alone where somebody else writes stacks", () => {
    const { prepareStackTrace } = Error;
    Error.prepareStackTrace = (_, sites) => sites;
    const { stack } = thrownBy(fail);
    Error.prepareStackTrace = prepareStackTrace;
    assert.ok(Array.isArray(stack));
  });
});
