// nn.utils.prune: masks over parameters; the parameters themselves are still learned.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const { prune } = nn.utils;

/** A layer of which the sizes of the weights are known: [[1, -2, 3], [-4, 5, -6]]. */
function layer() {
  const made = new nn.Linear(3, 2);
  eg.noGrad(() => {
    made.weight.copy_(
      eg.tensor([
        [1, -2, 3],
        [-4, 5, -6],
      ]),
    );
    made.bias.zero_();
  });
  return made;
}

const kept = (module, name = "weight") => module.stateDict()[`${name}_mask`].flatten().tolist();

describe("prune", () => {
  test("makes weight_orig and weight_mask of a weight, which is their product from then on", () => {
    const linear = layer();
    const { weight } = linear;
    assert.equal(prune.l1Unstructured(linear, "weight", 2), linear);
    assert.deepEqual(Object.keys(linear.stateDict()), ["bias", "weight_orig", "weight_mask"]);
    assert.equal(linear.weight_orig, weight);
    assert.deepEqual(
      linear.namedParameters().map(([name]) => name),
      ["bias", "weight_orig"],
    );
    assertTensor(linear.weight, [0, 0, 3, -4, 5, -6], { shape: [2, 3] });
    assert.ok(prune.isPruned(new nn.Sequential(linear)));
    assert.ok(!prune.isPruned(layer()));
  });

  test("gradients reach what is left of weight_orig, and a step changes what forward computes", () => {
    const linear = prune.l1Unstructured(layer(), "weight", 0.5);
    const optimizer = new eg.optim.SGD(linear.parameters(), { lr: 1 });
    const x = eg.ones([1, 3]);
    assertTensor(linear.call(x), [0, -5], { shape: [1, 2] });
    linear.call(x).sum().backward();
    assertTensor(linear.weight_orig.grad, [0, 0, 0, 1, 1, 1], { shape: [2, 3] });
    optimizer.step();
    assertTensor(linear.weight, [0, 0, 0, -5, 4, -7], { shape: [2, 3] });
    assertTensor(linear.weight_orig, [1, -2, 3, -5, 4, -7], { shape: [2, 3] });
  });

  test("remove() makes the same parameter of it again, with zeros", () => {
    const linear = layer();
    const { weight } = linear;
    prune.l1Unstructured(linear, "weight", 2);
    assert.equal(prune.remove(linear, "weight"), linear);
    assert.equal(linear.weight, weight);
    assertTensor(weight, [0, 0, 3, -4, 5, -6], { shape: [2, 3] });
    assert.deepEqual(Object.keys(linear.stateDict()).sort(), ["bias", "weight"]);
    assert.ok(!prune.isPruned(linear));
    linear
      .call(eg.ones([1, 3]))
      .sum()
      .backward();
    assert.ok(weight.grad !== null);
    assertThrows(() => prune.remove(linear, "weight"), "InvalidArgument", /"weight"/);
  });

  test("a second method considers the elements that the first has left", () => {
    const linear = layer();
    prune.l1Unstructured(linear, "weight", 2);
    prune.l1Unstructured(linear, "weight", 0.5);
    assert.deepEqual(kept(linear), [0, 0, 0, 0, 1, 1]);
    prune.lnStructured(linear, "weight", { amount: 1, n: 2, dim: 1 });
    // Among the columns that have elements left.
    assert.deepEqual(kept(linear), [0, 0, 0, 0, 0, 1]);
    assertTensor(linear.weight_orig, [1, -2, 3, -4, 5, -6], { shape: [2, 3] });
  });

  test("prunes whole slices by their norm, or at random", () => {
    const linear = layer();
    prune.lnStructured(linear, "weight", 1, 1, 0);
    assert.deepEqual(kept(linear), [0, 0, 0, 1, 1, 1]);
    const other = prune.randomStructured(layer(), "weight", { amount: 2, dim: 1 });
    const columns = eg.sum(other.weight_mask, 0).tolist();
    assert.deepEqual(columns.sort(), [0, 0, 2]);
    assert.equal(eg.sum(prune.randomUnstructured(layer(), "weight", 0.5).weight_mask).item(), 3);
  });

  test("a given mask, importance scores, no pruning, and a bias", () => {
    const mask = eg.tensor([
      [1, 0, 1],
      [0, 1, 1],
    ]);
    assert.deepEqual(kept(prune.customFromMask(layer(), "weight", mask)), [1, 0, 1, 0, 1, 1]);
    const importanceScores = eg.arange(6).reshape([2, 3]).mul(-1);
    const linear = prune.l1Unstructured(layer(), "weight", 1, { importanceScores });
    assert.deepEqual(kept(linear), [0, 1, 1, 1, 1, 1]);
    assert.deepEqual(kept(prune.identity(layer(), "bias"), "bias"), [1, 1]);
  });

  test("globalUnstructured() takes several parameters for one", () => {
    const [a, b] = [layer(), layer()];
    eg.noGrad(() => b.weight.mul_(10));
    const pairs = [
      [a, "weight"],
      [b, "weight"],
    ];
    prune.globalUnstructured(pairs, prune.L1Unstructured, { amount: 0.5 });
    assert.deepEqual(kept(a), [0, 0, 0, 0, 0, 0]);
    assert.deepEqual(kept(b), [1, 1, 1, 1, 1, 1]);
    assertThrows(
      () => prune.globalUnstructured(pairs, prune.LnStructured, { amount: 1, n: 2 }),
      "InvalidArgument",
      /unstructured/,
    );
  });

  test("a user-defined method chooses the elements to prune", () => {
    class Odd extends prune.BasePruningMethod {
      computeMask(t, mask) {
        return mask.mul(eg.arange(t.numel).reshape(t.shape).remainder(2));
      }
    }
    const linear = layer();
    const method = Odd.apply(linear, "weight");
    assert.ok(method instanceof Odd);
    assert.deepEqual(kept(linear), [0, 1, 0, 1, 0, 1]);
    const again = prune.L1Unstructured.apply(linear, "weight", 1);
    assert.ok(again instanceof prune.PruningContainer);
    assert.deepEqual([again.length, again.at(0)], [2, method]);
    assertTensor(new prune.L1Unstructured(1).prune(eg.tensor([3, -1])), [3, 0], { shape: [2] });
  });

  test("a copy is pruned too, and on its own", () => {
    const linear = prune.l1Unstructured(layer(), "weight", 2);
    const copy = linear.clone();
    prune.l1Unstructured(copy, "weight", 2);
    assert.deepEqual(
      [kept(linear), kept(copy)],
      [
        [0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 1, 1],
      ],
    );
    prune.remove(copy, "weight");
    assert.ok(prune.isPruned(linear));
    const other = prune.identity(layer(), "weight");
    other.loadStateDict(linear.stateDict());
    assert.deepEqual(other.weight.tolist(), linear.weight.tolist());
  });

  test("what is wrong is refused, and the module is as before", () => {
    const linear = layer();
    const wrong = [
      [() => prune.l1Unstructured(linear, "quux", 1), /"quux"; it has weight, bias/],
      [() => prune.l1Unstructured(linear, "weight", -1), /amount/],
      [() => prune.l1Unstructured(linear, "weight", 1.5), /amount/],
      [() => prune.l1Unstructured(linear, "weight", 7), /at most 6, got 7/],
      [() => prune.l1Unstructured(linear, "weight", { amuont: 1 }), /"amount"/],
      [() => prune.l1Unstructured(1, "weight", 1), /a module/],
      [() => prune.isPruned(1), /a module/],
    ];
    for (const [call, message] of wrong) assertThrows(call, "InvalidArgument", message);
    assertThrows(
      () => prune.lnStructured(linear, "bias", 1, 2, 0),
      "ShapeMismatch",
      /two dimensions/,
    );
    assertThrows(
      () => prune.customFromMask(linear, "weight", eg.ones([2])),
      "ShapeMismatch",
      /mask/,
    );
    assert.deepEqual(Object.keys(linear.stateDict()), ["weight", "bias"]);
    prune.identity(linear, "weight");
    assertThrows(
      () => Object.assign(linear, { weight: eg.ones([2, 3]) }),
      "InvalidArgument",
      /weight_orig/,
    );
  });

  test("of a tensor: arguments that are no tensors, or of another shape, are errors", () => {
    const container = new prune.PruningContainer(new prune.L1Unstructured({ amount: 1 }));
    const x = eg.ones([2, 3]);
    for (const [call, name] of [
      [() => container.prune(1n, x), "t"],
      [() => container.prune(x, [undefined]), "defaultMask"],
      [() => container.computeMask(1n, x), "t"],
      [() => container.computeMask(x, class {}), "defaultMask"],
    ])
      assertThrows(call, "InvalidArgument", new RegExp(`Container\\.\\w+\\] ${name}\\b`));
    assertThrows(() => container.prune(x, eg.ones([3])), "ShapeMismatch", /\[2,3\].*\[3\]/);
  });
});

test("the mask of a container has the dtype of the tensor", () => {
  const { L1Unstructured, PruningContainer } = eg.nn.utils.prune;
  const container = new PruningContainer();
  const method = new L1Unstructured(1);
  method.tensorName = "weight";
  container.tensorName = "weight";
  container.addPruningMethod(method);
  const t = eg.tensor([1, 2, 3], { dtype: "float64" });
  const mask = container.computeMask(t, eg.tensor([1, 1, 0], { dtype: "int64" }));
  assert.equal(mask.dtype, "float64");
  assert.deepEqual(mask.tolist(), [0, 1, 0]);
});
