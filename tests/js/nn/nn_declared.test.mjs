// Layers whose classes are made from declarations (web/src/nn/layer.ts): for users they are ordinary classes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

describe("layers from declarations", () => {
  test("have their names, fields and texts", () => {
    const loss = new nn.HuberLoss("sum", { delta: 2 });
    assert.equal(loss.constructor.name, "HuberLoss");
    assert.ok(loss instanceof nn.HuberLoss && loss instanceof nn.Module);
    assert.deepEqual([loss.reduction, loss.delta], ["sum", 2]);
    assert.equal(String(loss), "HuberLoss()");
    assert.equal(String(new nn.ELU(2, true)), "ELU(alpha=2.0, inplace=True)");
    assert.deepEqual(Object.keys(new nn.Hardtanh()).sort(), [
      "inplace",
      "maxVal",
      "minVal",
      "training",
    ]);
  });

  test("are not one another's classes, though one function made them", () => {
    assert.ok(!(new nn.ReLU() instanceof nn.ReLU6));
    assert.ok(!(new nn.Conv2d(1, 1, 1) instanceof nn.Conv1d));
    assert.ok(new nn.UpsamplingNearest2d({ scaleFactor: 2 }) instanceof nn.Upsample);
  });

  test("are named in messages, subclasses by their own names", () => {
    class Limited extends nn.Hardtanh {}
    assertThrows(() => new nn.Hardtanh(1, 0), "InvalidArgument", /\[Hardtanh\] .*1 and maxVal 0/);
    assertThrows(() => new Limited({ max: 1 }), "InvalidArgument", /\[Limited\].*"maxVal"/);
    assertThrows(() => new nn.RReLU(2, 1), "InvalidArgument", /\[RReLU\] .*2 and 1/);
    assertThrows(() => new nn.TripletMarginLoss(0), "InvalidArgument", /\[TripletMarginLoss\].*0/);
    assertThrows(() => new nn.Tanh(1), "InvalidArgument", /\[Tanh\] too many/);
  });

  test("have subclasses with other fields and another forward()", () => {
    class Scaled extends nn.HuberLoss {
      scale = 3;

      constructor(delta) {
        super({ delta, reduction: "sum" });
      }

      forward(input, target) {
        return super.forward(input, target).mul(this.scale);
      }
    }
    const loss = new Scaled(1);
    assertTensor(loss.call(eg.tensor([2]), eg.tensor([0])), [4.5], { shape: [] });
    const copy = loss.clone();
    assert.ok(copy instanceof Scaled);
    assert.deepEqual([copy.delta, copy.scale], [1, 3]);
  });
});
