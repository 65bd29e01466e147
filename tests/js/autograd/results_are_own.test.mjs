// A result that is not a view of an operand belongs to the caller: it can be changed in place, detached in place and made to
// require a gradient in any mode, whatever views the op has used internally.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

const isTensor = (value) => value instanceof eg.Tensor;
const isFloat = ({ dtype }) => dtype === "float64" || dtype === "float32";
const plainOf = (value) =>
  Array.isArray(value) ? value.map(plainOf) : isTensor(value) ? value.detach() : value;

/** True if `result` is a view of one of the operands, so that writing to its base changes the operand. */
function isViewOf(result, operands) {
  if (!result.isView) return false;
  const before = operands.map((one) => JSON.stringify(one));
  const base = result.base.detach();
  const old = base.clone();
  eg.noGrad(() => (base.dtype === "bool" ? base.logicalNot_() : base.add_(1)));
  const isSeen = operands.some((one, i) => JSON.stringify(one) !== before[i]);
  eg.noGrad(() => base.copy_(old));
  return isSeen;
}

/** Changes a result in place while operations are recorded, and checks the gradient. */
function checkIsOwn(result, what) {
  assert.equal(result.isView, false, `${what}: isView`);
  if (!isFloat(result)) return;
  const w = leaf(2, { dtype: result.dtype });
  const sum = result.detach().sum().item();
  result.mul_(w);
  const [gradient] = eg.autograd.grad(result.sum(), w);
  if (Number.isFinite(sum)) assertClose([gradient.item()], [sum], { rtol: 1e-4, atol: 1e-4, what });
  result.detach_();
  assert.equal(result.requiresGrad, false);
}

// Two handles of the same tensor share memory but are not views.
function isSame(a, b) {
  if (a === b) return true;
  if (b.isView || !b.isLeaf || b.dtype === "bool") return false;
  const { version } = a;
  eg.noGrad(() => b.mul_(1));
  return a.version > version;
}

function resultsOf(op, args) {
  return callOp(op, args).filter(isTensor);
}

// Tensors whose elements share memory cannot be written to; this is known and intended.
const overlaps = ({ shape, strides }) => shape.some((size, d) => size > 1 && strides[d] === 0);

function checkOp(op, inMode) {
  for (const { text, make } of samplesOf(op)) {
    const args = make();
    if (args === null) continue;
    const given = inMode === eg.noGrad ? plainOf(args) : args;
    const operands = plainOf(args).flat(2).filter(isTensor);
    for (const result of inMode(() => resultsOf(op, given))) {
      if (result.numel === 0 || isViewOf(result, operands) || overlaps(result)) continue;
      // Indices are saved by the graph but are not part of it.
      if (inMode !== eg.noGrad && !isFloat(result)) continue;
      // An op that has nothing to do may return its operand.
      if ([args, given].flat(3).some((one) => isTensor(one) && isSame(one, result))) continue;
      checkIsOwn(result, `${op.js}(${text})`);
    }
  }
}

const kOps = [...opTable.filter(({ kind }) => kind !== "internal"), ...compositeTable];
// These write into their first argument and return it.
const isInPlace = ({ js }) => js.endsWith("_");

describe("results that are made under noGrad can be changed in place where that is recorded", () => {
  for (const op of kOps.filter((one) => !isInPlace(one))) {
    test(op.js, () => eg.scope(() => checkOp(op, eg.noGrad)));
  }

  const [m, v] = [eg.ones([2, 3]), eg.ones([3])];
  const others = {
    "einsum of matrices": () => eg.einsum("ij,kj->ik", m, m),
    "einsum of a vector": () => eg.einsum("ij,j->i", m, v),
    "einsum that permutes products": () => eg.einsum("ij,kj->ki", m, m),
    "einsum that sums": () => eg.einsum("ij->j", m),
    "matmul of vectors": () => v.matmul(v),
    "matmul of a vector and a matrix": () => v.matmul(eg.ones([3, 2])),
    "matmul of a matrix and a vector": () => m.matmul(v),
    "matmul of batches": () => eg.ones([2, 2, 3]).matmul(eg.ones([3, 2])),
    "an index by tensors": () => m.at(eg.tensor([1n, 0n])),
    "an index by a mask": () => m.at(m.gt(0)),
    "an index by tensors after a slice": () => m.at(eg.slice(), eg.tensor([1n, 0n])),
    "a distribution's sample": () =>
      new eg.distributions.MultivariateNormal(v, { covarianceMatrix: eg.eye(3) }).sample([2]),
    "a distribution's log probability": () => new eg.distributions.Normal(v, 1).logProb(m),
    "a Linear": () => new eg.nn.Linear(3, 2).call(m),
    "a Linear of one row": () => new eg.nn.Linear(3, 2).call(v),
    "a Bilinear": () => new eg.nn.Bilinear(3, 3, 2).call(m, m),
    "a Conv1d": () => new eg.nn.Conv1d(2, 4, 3).call(eg.ones([1, 2, 5])),
    "a Conv1d without a batch": () => new eg.nn.Conv1d(2, 4, 3).call(eg.ones([2, 5])),
    "a Conv2d without a batch": () => new eg.nn.Conv2d(2, 4, 3).call(eg.ones([2, 5, 5])),
    "a MaxPool1d": () => new eg.nn.MaxPool1d(2).call(eg.ones([2, 6])),
    "a BatchNorm1d": () => new eg.nn.BatchNorm1d(3).call(m),
    "an Embedding": () => new eg.nn.Embedding(4, 3).call(eg.tensor([1n, 2n])),
    "an Upsample": () => new eg.nn.Upsample({ scaleFactor: 2 }).call(eg.ones([1, 1, 3])),
    "an attention": () =>
      new eg.nn.MultiheadAttention(4, 2).call(...Array(3).fill(eg.ones([3, 1, 4])))[0],
    "weights of an attention": () =>
      new eg.nn.MultiheadAttention(4, 2).call(...Array(3).fill(eg.ones([3, 1, 4])))[1],
    "a transformer's layer": () =>
      new eg.nn.TransformerEncoderLayer(4, 2, { dropout: 0 }).call(eg.ones([3, 1, 4])),
    "outputs of an LSTM": () => new eg.nn.LSTM(3, 2).call(eg.ones([4, 1, 3]))[0],
    "the state of an LSTM": () => new eg.nn.LSTM(3, 2).call(eg.ones([4, 1, 3]))[1][0],
    "outputs of a GRU": () => new eg.nn.GRU(3, 2, { batchFirst: true }).call(eg.ones([1, 4, 3]))[0],
    "outputs of an RNN without a batch": () => new eg.nn.RNN(3, 2).call(eg.ones([4, 3]))[0],
    "a vmap": () => eg.func.vmap((row) => row.matmul(eg.ones([3, 2])))(m),
    "a vmap of composites": () =>
      eg.func.vmap((row) => eg.inner(row, row).add(row.rot90(1, [0, 1])))(eg.ones([2, 3, 3])),
    "a gradient": () => eg.func.grad((x) => x.square().sum())(m),
    "a Jacobian": () => eg.func.jacrev((x) => x.square())(v),
    "a Jacobian in forward mode": () => eg.func.jacfwd((x) => x.square())(v),
    "a Hessian": () => eg.func.hessian((x) => x.pow(3).sum())(v),
    "a functional Jacobian": () => eg.autograd.functional.jacobian((x) => x.square(), v),
    "a product": () => eg.autograd.functional.hvp((x) => x.pow(3).sum(), v, v)[1],
    "clipped gradients": () => eg.nn.utils.parametersToVector([m, v]),
    "a padded sequence": () => eg.nn.utils.rnn.padSequence([v, v]),
    "one element of an array": () => eg.tensor([[1, 2]]),
  };
  for (const [name, make] of Object.entries(others)) {
    test(name, () => {
      checkIsOwn(eg.noGrad(make), name);
    });
  }
});

describe("results that are recorded can be detached in place", () => {
  for (const op of kOps.filter((one) => !isInPlace(one))) {
    test(op.js, () => eg.scope(() => checkOp(op, (fn) => fn())));
  }
});

describe("views that the user makes under noGrad are still refused", () => {
  const x = leaf([
    [1, 2],
    [3, 4],
  ]);
  const w = leaf(2);
  const views = {
    at: (t) => t.at(0),
    reshape: (t) => t.reshape([4]),
    view: (t) => t.view([4]),
    permute: (t) => t.permute([1, 0]),
    transpose: (t) => t.transpose(0, 1),
    squeeze: (t) => t.unsqueeze(0),
    narrow: (t) => t.narrow(0, 0, 1),
    tensorSplit: (t) => eg.tensorSplit(t, 2)[0],
  };
  for (const [name, view] of Object.entries(views)) {
    test(name, () => {
      for (const base of [x, x.mul(1), eg.ones([2, 2])]) {
        const made = eg.noGrad(() => view(base));
        assert.equal(made.isView, true);
        assert.throws(
          () => made.mul_(w),
          (error) => ["ViewInPlace", "LeafInPlace"].includes(error.code),
        );
        assert.equal(made.isView, true);
        eg.noGrad(() => made.mul_(1));
        assert.equal(made.isView, true);
      }
    });
  }

  test("also when the base is no longer referenced", () => {
    // rule: view-inplace-error
    const base = eg.ones([2, 2]);
    const made = eg.noGrad(() => base.reshape([4]));
    base.dispose();
    assert.equal(made.add(1).isView, false);
    eg.noGrad(() => made.add_(1));
    assert.equal(made.isView, true);
    assert.throws(() => made.mul_(w), { code: "ViewInPlace" });
    assert.equal(eg.narrowCopy(made, 0, 0, 1).isView, false);
    assert.equal(made.isView, true);
  });
});
