// The functions of nn.functional that draw random numbers. The expected values are those of PyTorch 1.13.1.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const F = nn.functional;
const kNext = { rtol: 0, atol: 0 };

const next = () => eg.rand([1], { dtype: "float64" });

describe("gumbelSoftmax", () => {
  const logits = eg.tensor([
    [0.1, 0.4, 0.2, 0.3],
    [1, 2, -1, 0],
  ]);

  test("draws soft rows, then hard columns", () => {
    eg.manualSeed(1);
    const soft = F.gumbelSoftmax(logits, 0.7);
    assertTensor(
      soft,
      [
        0.6169883608818054, 0.1290040910243988, 0.09047999233007431, 0.16352759301662445,
        0.01458704099059105, 0.9822483062744141, 0.0012379258405417204, 0.0019267871975898743,
      ],
    );
    const hard = F.gumbelSoftmax(logits, { tau: 0.5, hard: true, dim: 0 });
    assertTensor(hard, [0, 0, 0, 0, 1, 1, 1, 1]);
    assertTensor(next(), [0.6402394567512556], kNext);
  });

  test("hard rows have the gradient of soft ones", () => {
    const grads = [true, false].map((hard) => {
      eg.manualSeed(3);
      const leaf = logits.detach().requiresGrad_(true);
      const drawn = F.gumbelSoftmax(leaf, { hard });
      drawn.mul(eg.arange(8).reshape(2, 4)).sum().backward();
      return leaf.grad.dataSync();
    });
    assertClose(...grads);
    assert.ok(grads[0].some((grad) => grad !== 0));
  });

  test("refuses what is no temperature", () => {
    assertThrows(() => F.gumbelSoftmax(logits, { tau: 0 }), "InvalidArgument", /tau/);
    assertThrows(() => F.gumbelSoftmax(logits, { dim: 5 }), "IndexOutOfRange");
  });
});

describe("dropouts", () => {
  const x = eg.arange(1, 13, { dtype: "float32" });
  const by = (factor) => Array.from({ length: 12 }, (_, i) => (i + 1) * factor);

  test("draw what PyTorch's draw, in one sequence", () => {
    const only = (places, values) => values.map((value, i) => (places.includes(i) ? value : 0));
    eg.manualSeed(2);
    for (const [dropped, expected] of [
      [F.dropout1d(x.reshape(2, 3, 2), 0.5), only([2, 3], by(2))],
      [F.dropout1d(x.reshape(6, 2), 0.3), by(1 / 0.7)],
      [F.dropout2d(x.reshape(1, 3, 2, 2), 0.4), only([], by(1))],
      [F.dropout2d(x.reshape(2, 3, 2), 0.4), only([0, 1, 4, 5, 8, 9], by(1 / 0.6))],
      [F.dropout3d(x.reshape(3, 2, 1, 2), 0.5), only([], by(1))],
      [
        F.alphaDropout(x, 0.3, true),
        [
          1.315044641494751, 2.175997257232666, -1.059548258781433, 3.897902488708496,
          4.758854866027832, 5.619807720184326, 6.48076057434082, 7.341712951660156,
          8.202665328979492, 9.063617706298828, -1.059548258781433, 10.785523414611816,
        ],
      ],
      [
        F.featureAlphaDropout(x.reshape(2, 3, 2), 0.5, true),
        [
          1.6655988693237305, 2.5520036220550537, -0.7791939377784729, -0.7791939377784729,
          5.211218357086182, 6.097622871398926, 6.984027862548828, 7.8704328536987305,
          8.756837844848633, 9.643242835998535, 10.529647827148438, 11.416051864624023,
        ],
      ],
      [F.featureAlphaDropout(x.reshape(2, 3, 2), 1, true), by(0)],
      [F.alphaDropout(x, 1, true), by(0)],
    ]) {
      assertTensor(dropped, expected);
    }
    assertTensor(next(), [0.7370815244990787], kNext);
  });

  test("leave the input as it is where nothing is dropped", () => {
    eg.manualSeed(4);
    const expected = next();
    eg.manualSeed(4);
    const image = x.reshape(1, 3, 2, 2);
    assert.equal(F.dropout2d(image, 0), image);
    assert.equal(F.dropout2d(image, { training: false }), image);
    // In PyTorch these two default to evaluation mode.
    assert.equal(F.alphaDropout(image, 0.5), image);
    assert.equal(F.featureAlphaDropout(image), image);
    assertTensor(next(), expected.dataSync(), kNext);
  });

  test("keep mean and variance, where they are alpha dropouts", () => {
    eg.manualSeed(5);
    const dropped = F.alphaDropout(eg.randn([100000]), 0.2, true);
    assertClose([dropped.mean().item(), dropped.var().item()], [0, 1], { atol: 0.03 });
  });

  test("refuse probabilities and shapes", () => {
    for (const name of ["dropout1d", "dropout2d", "dropout3d", "alphaDropout"]) {
      assertThrows(
        () => F[name](x, 1.5),
        "InvalidArgument",
        /p: expected a number from 0 to 1, got number 1\.5/,
      );
    }
    assertThrows(() => F.dropout1d(x), "ShapeMismatch", /2D or 3D input/);
    for (const name of ["dropout2d", "featureAlphaDropout"]) {
      assertThrows(() => F[name](x, 0.5, true), "ShapeMismatch", /2 dimensions or more/);
    }
    assertThrows(() => F.dropout3d(eg.tensor(1)), "ShapeMismatch", /2 dimensions or more/);
  });

  // The expected values are those of PyTorch 2.6.
  test("drop the channels of inputs with other numbers of dimensions, with a warning", () => {
    const dropped = (name, shape) => {
      eg.manualSeed(0);
      return F[name](eg.ones(shape), 0.5);
    };
    const warnings = [];
    const { warn } = console;
    console.warn = (text) => warnings.push(text);
    try {
      assertTensor(dropped("dropout2d", [2, 3, 1, 1, 2]), [0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0]);
      assertTensor(dropped("dropout2d", [4, 2]), [0, 0, 2, 0, 0, 0, 2, 2]);
      assertTensor(dropped("dropout3d", [4, 2, 1]), [0, 0, 0, 0, 2, 2, 0, 0]);
      assertTensor(dropped("dropout3d", [4, 1, 1, 1, 1, 2]), [0, 0, 0, 0, 2, 2, 0, 0]);
      assertTensor(dropped("dropout3d", [4]), [0, 0, 2, 0]);
      assert.deepEqual(new nn.Dropout2d().call(eg.ones([2, 2, 2, 2, 2])).shape, [2, 2, 2, 2, 2]);
    } finally {
      console.warn = warn;
    }
    assert.match(
      warnings[0],
      /\[dropout2d\] expected a 4D input, got 5D with the shape \[2,3,1,1,2\]/,
    );
    assert.ok(warnings.some((text) => /\[dropout3d\] .* read as \[C, \.\.\.\]/.test(text)));
  });

  test("need no channels where nothing or everything is dropped", () => {
    for (const input of [eg.tensor(1), eg.ones([2])]) {
      for (const name of ["dropout2d", "dropout3d", "featureAlphaDropout"]) {
        assert.equal(F[name](input, 0.5, false), input);
        assert.equal(F[name](input, 0, true), input);
        assertTensor(F[name](input, 1, true), new Array(input.numel).fill(0));
      }
    }
  });
});
