// An error from inside a model says which layer failed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { Conv2d, Linear, Module, ModuleList, ReLU, Sequential } = eg.nn;

class Net extends Module {
  constructor() {
    super();
    this.blocks = new ModuleList([new ReLU(), new Linear(9, 2)]);
  }

  forward(x) {
    for (const block of this.blocks) x = block.call(x);
    return x;
  }
}

class Outer extends Module {
  constructor(inner) {
    super();
    this.inner = inner;
  }

  forward(...inputs) {
    return this.inner.call(...inputs);
  }
}

const wrong = eg.ones([2, 3]);

function thrownBy(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

describe("the message ends with the path and the sizes of the layer", () => {
  const cases = [
    ["a layer alone", new Linear(9, 2), " (in Linear(9, 2))"],
    ["a list", new Net(), " (in blocks.1: Linear(9, 2))"],
    ["a Sequential", new Sequential(new ReLU(), new Linear(4, 1)), " (in 1: Linear(4, 1))"],
    ["three levels", new Outer(new Outer(new Net())), " (in inner.inner.blocks.1: Linear(9, 2))"],
    ["a convolution", new Outer(new Conv2d(3, 8, 3)), " (in inner: Conv2d(3, 8))"],
    [
      "a Sequential in a module",
      new Outer(new Sequential(new Net())),
      " (in inner.0.blocks.1: Linear(9, 2))",
    ],
  ];
  for (const [what, model, end] of cases) {
    test(what, () => {
      const error = thrownBy(() => model.call(wrong));
      assert.equal(error.code, "ShapeMismatch");
      assert.ok(error.message.endsWith(end), error.message);
      assert.equal(error.message.split("(in ").length, 2);
      assert.ok(
        error.stack.startsWith(`EdgeGradError [ShapeMismatch]: ${error.message}\n`),
        error.stack,
      );
      assert.match(error.stack, /failing_layer\.test\.mjs/);
    });
  }

  test("of a module that the program wrote", () => {
    class Bad extends Module {
      forward(x) {
        return eg.matmul(x, x);
      }
    }
    const model = new Sequential(new Outer(new Bad()));
    assertThrows(() => model.call(wrong), "ShapeMismatch", / \(in 0\.inner: Bad\(\)\)$/);
    // Its own frame is at the top of the stack.
    assertThrows(() => new Bad().call(wrong), "ShapeMismatch", /^((?!\(in ).)*$/);
  });

  test("with hooks around the call", () => {
    const model = new Net();
    model.registerForwardHook(() => {});
    model.blocks.at(1).registerForwardPreHook(() => {});
    assertThrows(() => model.call(wrong), "ShapeMismatch", /\(in blocks\.1: Linear\(9, 2\)\)$/);
  });

  test("of an asynchronous module", async () => {
    class Later extends Outer {
      async forward(x) {
        await null;
        return this.inner.call(x);
      }
    }
    const model = new Outer(new Later(new Net()));
    const end = /has\. \(in inner\.inner\.blocks\.1: Linear\(9, 2\)\)$/;
    await assertRejects(model.call(wrong), "ShapeMismatch", end);
    const good = await model.call(eg.ones([2, 9]));
    assert.deepEqual(good.shape, [2, 2]);
  });

  test("where a module on the way is no part of the one that calls it", () => {
    class Borrowing extends Module {
      #inner = new Net();

      forward(x) {
        return this.#inner.call(x);
      }
    }
    const end = /has\. \(in blocks\.1: Linear\(9, 2\)\)$/;
    assertThrows(() => new Sequential(new Borrowing()).call(wrong), "ShapeMismatch", end);
  });
});

test("the error is the object that the layer threw", () => {
  let seen;
  class Watching extends Outer {
    forward(x) {
      try {
        return super.forward(x);
      } catch (error) {
        seen = error;
        throw error;
      }
    }
  }
  assert.equal(
    thrownBy(() => new Sequential(new Watching(new Net())).call(wrong)),
    seen,
  );
});

test("what a program throws passes unchanged", () => {
  for (const thrown of [new TypeError("mine"), "text", null, Object.freeze(new Error("frozen"))]) {
    class Throwing extends Module {
      forward() {
        throw thrown;
      }
    }
    const message = thrown?.message;
    assert.equal(
      thrownBy(() => new Sequential(new Throwing()).call(wrong)),
      thrown,
    );
    assert.equal(thrown?.message, message);
  }
});

test("a module whose text or parts cannot be read does not hide the error", () => {
  class Unreadable extends Module {
    extraRepr() {
      throw new Error("no text");
    }

    forward(x) {
      return eg.matmul(x, x);
    }
  }
  const model = new Outer(new Unreadable());
  assertThrows(() => model.call(wrong), "ShapeMismatch", / \(in inner: Unreadable\(\)\)$/);
  const itself = new Outer(new Net());
  itself.itself = itself;
  assertThrows(() => itself.call(wrong), "ShapeMismatch", / \(in blocks\.1: Linear\(9, 2\)\)$/);
});
