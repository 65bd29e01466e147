// Objects of another realm, such as a frame or a context of node:vm, are as good as those of this one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const foreign = (code) => runInNewContext(`(${code})`);

describe("from another realm", () => {
  test("options are read", () => {
    assert.equal(eg.zeros([2], foreign('{ dtype: "float64" }')).dtype, "float64");
    assert.equal(eg.tensor([1], foreign("{ requiresGrad: true }")).requiresGrad, true);
    assertTensor(eg.ones([2, 3]).sum(1, foreign("{ keepdim: true }")), [3, 3]);
    assert.equal(new eg.nn.Linear(2, 3, foreign("{ bias: false }")).bias, null);
    const parameters = new eg.nn.Linear(2, 3).parameters();
    assert.equal(new eg.optim.SGD(parameters, foreign("{ lr: 0.5 }")).paramGroups[0].lr, 0.5);
  });

  test("unknown options are refused by name", () => {
    const call = () => eg.zeros([2], foreign("{ dtyp: 1 }"));
    assertThrows(call, "InvalidArgument", /unknown option "dtyp"/);
  });

  test("arrays, typed arrays and state dicts are read", () => {
    assertTensor(eg.tensor(foreign("[[1, 2], [3, 4]]")), [1, 2, 3, 4]);
    assertTensor(eg.tensor(foreign("new Float32Array([1, 2])")), [1, 2]);
    const model = new eg.nn.Linear(1, 1);
    const state = Object.assign(foreign("{}"), model.stateDict());
    assert.deepEqual(model.loadStateDict(state).missingKeys, []);
  });

  test("instances of classes are still no options", () => {
    const call = () => eg.zeros([2], foreign("new (class Settings {})()"));
    assertThrows(call, "InvalidArgument");
  });
});
