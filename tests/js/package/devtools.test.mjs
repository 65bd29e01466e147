// What developer tools show of tensors.

import assert from "node:assert/strict";
import { Session } from "node:inspector";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

eg.addDevtoolsFormatter();
const [formatter] = globalThis.devtoolsFormatters;

/** The text of a markup, with the objects in it as `{...}`. */
function textOf(markup) {
  if (typeof markup === "string") return markup;
  const [tag, attributes, ...children] = markup;
  assert.equal(typeof attributes, "object");
  if (tag === "object") return `{${attributes.object}}`;
  return children.map(textOf).join("") + (tag === "div" ? "\n" : "");
}

describe("the formatter for tensors", () => {
  test("is added once", () => {
    eg.addDevtoolsFormatter();
    assert.equal(globalThis.devtoolsFormatters.length, 1);
    assert.throws(() => eg.addDevtoolsFormatter(1), { code: "InvalidArgument" });
  });

  test("is not for other values", () => {
    for (const value of [null, 1, "x", {}, [eg.ones([1])], new eg.nn.Linear(1, 1)]) {
      assert.equal(formatter.header(value), null);
      assert.equal(formatter.hasBody(value), false);
    }
  });

  test("shows a small tensor in its line, a larger one by its kind", () => {
    assert.equal(textOf(formatter.header(eg.tensor([1, 2]))), "tensor([1., 2.])");
    const large = eg.zeros([10, 10], { dtype: "int32" });
    assert.equal(textOf(formatter.header(large)), "Tensor int32 [10, 10]");
    const parameter = new eg.nn.Parameter(eg.zeros([1, 10]));
    assert.equal(textOf(formatter.header(parameter)), "Parameter float32 [1, 10], requiresGrad");
  });

  test("shows elements, properties and gradients when it is opened", () => {
    const x = eg.tensor([1, 2], { requiresGrad: true });
    x.square().sum().backward();
    assert.ok(formatter.hasBody(x));
    const expected =
      "tensor([1., 2.], requires_grad=True)\nshape: {2}\ndtype: float32\ndevice: cpu\n" +
      "requiresGrad: true\ngrad: {tensor([2., 4.])}\ngradFn: null\n\n";
    assert.equal(textOf(formatter.body(x)), expected);
    assert.match(textOf(formatter.body(x.mul(2))), /gradFn: \{/);
  });

  test("has no body for what is disposed", () => {
    const x = eg.ones([1]);
    x.dispose();
    assert.equal(textOf(formatter.header(x)), "tensor(disposed)");
    assert.equal(formatter.hasBody(x), false);
  });

  test("shows why a tensor cannot be read", async () => {
    const x = eg.ones([2]);
    await eg.shutdown();
    assert.match(textOf(formatter.header(x)), /init\(\)|disposed|shut down/);
    assert.match(textOf(formatter.body(x)), /shape: /);
    await eg.init();
  });
});

test("V8 shows tensors by the formatter", () => {
  const session = new Session();
  session.connect();
  const post = (method, parameters) => {
    let answer;
    session.post(method, parameters, (error, result) => {
      answer = error ?? result;
    });
    return answer;
  };
  post("Runtime.enable");
  post("Runtime.setCustomObjectFormatterEnabled", { enabled: true });
  globalThis.shown = eg.tensor([3, 4]);
  const { result } = post("Runtime.evaluate", { expression: "shown" });
  assert.deepEqual(JSON.parse(result.customPreview.header), ["span", {}, "tensor([3., 4.])"]);
  const body = post("Runtime.callFunctionOn", {
    objectId: result.customPreview.bodyGetterId,
    functionDeclaration: "function () { return JSON.stringify(this()); }",
    returnByValue: true,
  });
  assert.match(body.result.value, /dtype: .*float32/);
  session.disconnect();
  delete globalThis.shown;
});
