// The arguments of optimizers and schedulers; see arguments.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;
const { StepLR, LinearLR, CosineAnnealingLR, OneCycleLR, LambdaLR } = optim.lrScheduler;
const kOptimizers = [
  ...["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"],
  ...["NAdam", "RAdam", "Adadelta", "Adamax", "ASGD", "Rprop", "Adafactor"],
];
const params = () => [eg.ones([2], { requiresGrad: true })];

describe("optimizers", () => {
  for (const name of kOptimizers) {
    const make = (...args) => new optim[name](...args);
    const refuses = (call, text) => {
      const message = new RegExp(`\\[${name}\\] ${text.source}`);
      assertThrows(call, "InvalidArgument", message);
    };

    test(`${name} refuses settings it does not have`, () => {
      refuses(() => make(params(), { quux: 1 }), /unknown option "quux"/);
      if (name !== "Rprop") {
        refuses(() => make(params(), { weight_decay: 1 }), /.*Did you mean "weightDecay"/);
        refuses(() => make([{ params: params(), weight_decay: 1 }]), /.*"weightDecay"/);
      }
      refuses(() => make(params(), { learningRate: 1 }), /.*Did you mean "lr"/);
      refuses(() => make([{ params: params(), Lr: 1 }]), /.*"lr"/);
      const optimizer = make(params());
      refuses(
        () => optimizer.addParamGroup({ params: params(), maximizes: true }),
        /.*"maximizes"/,
      );
      assert.equal(optimizer.paramGroups.length, 1);
    });

    test(`${name} refuses settings of the wrong kind`, () => {
      refuses(() => make(params(), "0.5"), /lr: expected a number/);
      refuses(() => make(params(), null), /lr: expected a number/);
      refuses(() => make(params(), 0.5, { lr: 0.5 }), /"lr" was given twice/);
      refuses(() => make(params(), {}, 1), /lr: expected a number/);
      refuses(() => make(params(), ...Array(9).fill(0.1)), /too many arguments/);
      refuses(() => make(params(), { lr: "0.1" }), /lr: expected a number, got "0.1"/);
      refuses(() => make(params(), { lr: Number.NaN }), /lr: expected a number/);
      refuses(() => make(params(), { lr: -1 }), /\blr: .* -1\./);
      refuses(() => make(params(), { maximize: 1 }), /maximize: expected true or false/);
      refuses(() => make([{ params: params(), lr: [1] }]), /lr: expected a number, got \[1\]/);
    });

    test(`${name} takes settings by position, as PyTorch does`, () => {
      const [group] = make(params(), 0.5).paramGroups;
      assert.deepEqual(group, {
        ...make(params(), { lr: 0.5 }).paramGroups[0],
        params: group.params,
      });
      assert.equal(make(params(), 0.5, { maximize: true }).paramGroups[0].maximize, true);
    });

    test(`${name} says what it is made of`, () => {
      refuses(() => make(new nn.Linear(1, 1)), /.*pass its parameters\(\)/);
      refuses(() => make(new nn.Sequential(new nn.Linear(1, 1))), /.*pass its parameters\(\)/);
      refuses(() => make([]), /params: .*empty/);
      for (const wrong of [undefined, null, 1, "w", {}, eg.ones(2), NaN]) {
        refuses(() => make(wrong), /params: expected a list of tensors/);
      }
      refuses(() => make([1]), /expected tensors, or groups/);
    });

    test(`${name} takes named parameters and keeps the names in its state`, () => {
      const layer = new nn.Linear(2, 1);
      const named = layer.namedParameters();
      for (const given of [named, new Map(named), named.values(), [{ params: named }]]) {
        const optimizer = make(given, { lr: 0.5 });
        const [group] = optimizer.paramGroups;
        assert.equal(group.params[0], layer.weight);
        assert.deepEqual(group.paramNames, ["weight", "bias"]);
        layer
          .call(eg.ones([1, 2]))
          .sum()
          .backward();
        const before = layer.bias.clone();
        optimizer.step();
        assert.ok(!layer.bias.equal(before));
        const [saved] = optimizer.stateDict().param_groups;
        assert.deepEqual([saved.params, saved.param_names], [[0, 1], group.paramNames]);
        assert.match(`${optimizer}`, /\n {4}param_names: \['weight', 'bias'\]\n/);
      }
    });
  }

  test("take groups with settings of their own and the rate to resume from", () => {
    const groups = [{ params: params(), lr: 0.1, initialLr: 0.4 }, { params: params() }];
    const optimizer = new optim.SGD(groups, { lr: 0.2, momentum: 0.9 });
    const [first, second] = optimizer.paramGroups;
    assert.deepEqual([first.lr, first.initialLr, first.momentum], [0.1, 0.4, 0.9]);
    assert.deepEqual([second.lr, "initialLr" in second], [0.2, false]);
  });

  test("all groups have names, or none", () => {
    const [weight, bias] = [...params(), ...params()];
    const { SGD } = optim;
    const refuses = (call, text) => assertThrows(call, "InvalidArgument", text);
    refuses(() => new SGD([["w", weight], bias]), /1 of 2 parameters have a name/);
    refuses(() => new SGD([bias, ["w", weight]]), /1 of 2 parameters have a name/);
    const w = { params: [["w", weight]] };
    const b = { params: [["b", bias]], lr: 1 };
    refuses(() => new SGD([w, { params: bias }]), /the others have them and this one does not/);
    refuses(() => new SGD([{ params: bias }, w]), /this one has them and the others do not/);
    refuses(() => new SGD([["w", 1]]), /expected tensors, got number 1/);
    refuses(() => new SGD([["w", weight, bias]]), /expected tensors, or groups/);
    refuses(() => new SGD([{ params: [weight], paramNames: ["a", "b"] }]), /expected 1 names/);
    refuses(
      () => new SGD([{ params: [weight], paramNames: "a" }]),
      /paramNames: expected an array/,
    );
    const optimizer = new SGD([w]);
    optimizer.addParamGroup(b);
    const names = ({ paramGroups }) => paramGroups.map(({ paramNames }) => paramNames);
    assert.deepEqual(names(optimizer), [["w"], ["b"]]);
    assert.deepEqual(names(new SGD(optimizer.paramGroups)), [["w"], ["b"]]);
  });

  test("loading a state brings its names, and keeps those it does not have", () => {
    const [weight] = params();
    const unnamed = () => new optim.SGD([weight]);
    const named = (name) => new optim.SGD([[name, weight]]);
    const loaded = (into, from) => {
      into.loadStateDict(from.stateDict());
      return into.paramGroups[0].paramNames;
    };
    assert.deepEqual(loaded(named("a"), unnamed()), ["a"]);
    assert.deepEqual(loaded(named("a"), named("b")), ["b"]);
    assert.deepEqual(loaded(unnamed(), named("b")), ["b"]);
    assert.equal(loaded(unnamed(), unnamed()), undefined);
  });

  test("Adafactor refuses what it cannot do", () => {
    const refuses = (settings, text) =>
      assertThrows(() => new optim.Adafactor(params(), settings), "InvalidArgument", text);
    refuses({ beta2Decay: 0.5 }, /beta2Decay: .* -0\.5/);
    refuses({ d: 0.5 }, /\bd: .* 0\.5/);
    refuses({ eps: 1e-3 }, /eps: expected a list of two/);
    refuses({ eps: [null, -1] }, /eps\[1\]: .* -1\./);
    const complex = eg.ones([2], { dtype: "complex64", requiresGrad: true });
    complex.grad = eg.ones([2], { dtype: "complex64" });
    const optimizer = new optim.Adafactor([complex]);
    assertThrows(() => optimizer.step(), "DtypeMismatch", /complex/);
    const matrix = eg.ones([2, 3], { requiresGrad: true });
    matrix.sum().backward();
    const trained = new optim.Adafactor([matrix]);
    trained.step();
    const { state, param_groups: groups } = trained.stateDict();
    assert.deepEqual(Object.keys(state[0]), ["step", "row_var", "col_var"]);
    assert.deepEqual(
      [state[0].row_var.shape, state[0].col_var.shape],
      [
        [2, 1],
        [1, 3],
      ],
    );
    const wrong = { state: { 0: { step: state[0].step } }, param_groups: groups };
    assertThrows(() => trained.loadStateDict(wrong), "InvalidArgument", /no "row_var"/);
  });

  test("refuse betas that are none", () => {
    for (const betas of [0.9, [0.9], ["0.9", 0.9], [0.9, 1], [-0.1, 0.9]]) {
      assertThrows(() => new optim.Adam(params(), { betas }), "InvalidArgument", /\[Adam\].*beta/);
    }
  });

  test("refuse what is no state and no closure", () => {
    const optimizer = new optim.SGD(params());
    for (const wrong of [undefined, null, 1, [], {}]) {
      assertThrows(() => optimizer.loadStateDict(wrong), "InvalidArgument", /\[SGD\]/);
    }
    assertThrows(() => optimizer.step(5), "InvalidArgument", /\[SGD\.step\] closure/);
    const later = async () => 1;
    assertThrows(() => optimizer.step(later), "InvalidArgument", /\[SGD\.step\].*a promise/);
    assertThrows(() => new optim.Optimizer(params()), "InvalidArgument", /\[Optimizer\]/);
  });
});

describe("schedulers", () => {
  const optimizer = () => new optim.SGD(params(), { lr: 1, momentum: 0.9 });

  test("refuse options they do not have", () => {
    const cases = [
      [() => new StepLR(optimizer(), 2, { gama: 1 }), /\[StepLR\].*"gamma"/],
      [() => new StepLR(optimizer(), { step_size: 2 }), /\[StepLR\].*"stepSize"/],
      [() => new LinearLR(optimizer(), { total_iters: 2 }), /\[LinearLR\].*"totalIters"/],
      [
        () => new CosineAnnealingLR(optimizer(), { T_max: 2 }),
        /\[CosineAnnealingLR\].*"tMax".*\(optimizer, tMax/,
      ],
      [() => new OneCycleLR(optimizer(), 1, { total_steps: 2 }), /\[OneCycleLR\].*"totalSteps"/],
      [() => new LambdaLR(optimizer(), () => 1, { last_epoch: 2 }), /\[LambdaLR\].*"lastEpoch"/],
    ];
    for (const [make, text] of cases) assertThrows(make, "InvalidArgument", text);
  });

  test("refuse values of the wrong kind", () => {
    const cases = [
      [() => new StepLR(optimizer(), "2"), /stepSize/],
      [() => new StepLR(optimizer(), 2, "0.1"), /gamma/],
      [() => new StepLR(optimizer(), 2, 0.1, -1, 3), /too many/],
      [() => new CosineAnnealingLR(optimizer(), 0), /tMax: expected a number above 0/],
      [() => new OneCycleLR(optimizer(), "1", 10), /maxLr/],
      [() => new LambdaLR(optimizer(), 3), /lrLambda: expected a function/],
      [() => new StepLR(null, 2), /optimizer: expected an optimizer/],
      [() => new StepLR(optimizer(), 2).step("1"), /\[StepLR\.step\] epoch/],
      [() => new StepLR(optimizer(), 2).loadStateDict(null), /the result of stateDict\(\)/],
    ];
    for (const [make, text] of cases) assertThrows(make, "InvalidArgument", text);
  });
});
