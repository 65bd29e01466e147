// nn.utils.rnn: sequences of several lengths, padded and packed, and recurrent layers on them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const { rnn } = nn.utils;
const kDouble = { dtype: "float64" };

function sequences(lengths, ...features) {
  eg.manualSeed(1);
  return lengths.map((length) => eg.randn([length, ...features], kDouble));
}

const numbers = (tensor) => [...tensor.dataSync()].map(Number);

describe("padding", () => {
  const [a, b] = [eg.tensor([1, 2, 3]), eg.tensor([4])];

  test("pads on either side", () => {
    assertTensor(rnn.padSequence([a, b]), [1, 4, 2, 0, 3, 0], { shape: [3, 2] });
    assertTensor(rnn.padSequence([a, b], true, -1), [1, 2, 3, 4, -1, -1], { shape: [2, 3] });
    const left = rnn.padSequence([a, b], { batchFirst: true, paddingSide: "left" });
    assertTensor(left, [1, 2, 3, 0, 0, 4]);
  });

  test("is removed by unpadSequence()", () => {
    const given = sequences([2, 4, 3], 2);
    const padded = rnn.padSequence(given);
    const back = rnn.unpadSequence(padded, eg.tensor([2n, 4n, 3n]));
    back.forEach((one, i) => {
      assertTensor(one, numbers(given[i]), { shape: given[i].shape });
    });
  });

  test("refuses other values than lists of sequences", () => {
    assertThrows(() => rnn.padSequence([]), "InvalidArgument", /expected one or more, got none/);
    assertThrows(() => rnn.padSequence([eg.tensor(1)]), "ShapeMismatch");
    assertThrows(() => rnn.padSequence([a], { side: 1 }), "InvalidArgument", /unknown option/);
    assertThrows(() => rnn.padSequence([a, eg.ones([2, 2])]), "ShapeMismatch");
  });
});

describe("packing", () => {
  // The results of torch.nn.utils.rnn for the same input.
  test("puts the steps of all sequences in a row", () => {
    const input = eg.tensor([
      [1, 2, 0],
      [3, 0, 0],
      [4, 5, 6],
    ]);
    const lengths = eg.tensor([2n, 1n, 3n]);
    const packed = rnn.packPaddedSequence(input, lengths, true, false);
    assertTensor(packed.data, [4, 1, 3, 5, 2, 6]);
    assert.deepEqual(numbers(packed.batchSizes), [3, 2, 1]);
    assert.deepEqual(numbers(packed.sortedIndices), [2, 0, 1]);
    assert.deepEqual(numbers(packed.unsortedIndices), [1, 2, 0]);
    const [padded, sizes] = rnn.padPackedSequence(packed, { batchFirst: true, totalLength: 4 });
    assertTensor(padded, [1, 2, 0, 0, 3, 0, 0, 0, 4, 5, 6, 0], { shape: [3, 4] });
    assert.deepEqual(numbers(sizes), [2, 1, 3]);
    const [filled] = rnn.padPackedSequence(packed, true, -5);
    assertTensor(filled, [1, 2, -5, 3, -5, -5, 4, 5, 6]);
  });

  test("keeps sorted sequences as they are, and refuses others", () => {
    const sorted = rnn.packSequence(sequences([3, 3, 1], 2));
    assert.deepEqual([sorted.sortedIndices, sorted.unsortedIndices], [null, null]);
    assert.deepEqual(numbers(sorted.batchSizes), [3, 2, 2]);
    const input = eg.ones([3, 2]);
    assertThrows(
      () => rnn.packPaddedSequence(input, [1, 2]),
      "InvalidArgument",
      /the longest first, got \[1, 2\].*enforceSorted: false/,
    );
    assertThrows(
      () => rnn.packPaddedSequence(input, [1]),
      "ShapeMismatch",
      /lengths: .* 2 sequences, got 1/,
    );
    assertThrows(() => rnn.packPaddedSequence(input, [4, 1]), "ShapeMismatch", /3 steps/);
    assertThrows(
      () => rnn.packPaddedSequence(input, eg.tensor([1n, 0n])),
      "InvalidArgument",
      /numbers above 0, got \[1, 0\]/,
    );
    assertThrows(() => rnn.padPackedSequence(input), "InvalidArgument", /a PackedSequence/);
    const short = { totalLength: 2 };
    assertThrows(() => rnn.padPackedSequence(sorted, short), "InvalidArgument", /totalLength/);
  });

  test("is undone, with gradients", () => {
    const given = sequences([2, 5, 3], 2).map((one) => one.requiresGrad_());
    const packed = rnn.packSequence(given, { enforceSorted: false });
    rnn.unpackSequence(packed).forEach((one, i) => {
      assertTensor(one, numbers(given[i]), { shape: given[i].shape });
      one
        .mul(i + 1)
        .sum()
        .backward(null, { retainGraph: true });
      assert.deepEqual([...new Set(numbers(given[i].grad))], [i + 1]);
    });
  });
});

describe("recurrent layers run packed sequences as each sequence alone", () => {
  const kMade = {
    RNN: () => new nn.RNN(3, 4, 1, "relu", { ...kDouble }),
    GRU: () => new nn.GRU(3, 4, 2, { bidirectional: true, batchFirst: true, ...kDouble }),
    LSTM: () => new nn.LSTM(3, 4, 2, { bidirectional: true, projSize: 2, ...kDouble }),
  };
  const kLengths = [2, 5, 1, 5, 3];

  for (const [name, make] of Object.entries(kMade)) {
    test(name, () => {
      const layer = make();
      const given = sequences(kLengths, 3);
      const packed = rnn.packSequence(given, false);
      const [output, last] = layer.call(packed);
      assert.ok(output instanceof rnn.PackedSequence);
      const outputs = rnn.unpackSequence(output);
      const states = [last].flat();
      given.forEach((sequence, i) => {
        const [alone, lastAlone] = layer.call(sequence);
        assertTensor(outputs[i], numbers(alone), { shape: alone.shape, rtol: 1e-12, atol: 1e-12 });
        [lastAlone].flat().forEach((state, s) => {
          assertTensor(states[s].select(1, i), numbers(state), { rtol: 1e-12, atol: 1e-12 });
        });
      });
    });
  }

  test("from given states, whose gradients find their sequence", () => {
    const layer = kMade.GRU();
    const given = sequences(kLengths, 3);
    const states = eg.randn([4, kLengths.length, 4], kDouble).requiresGrad_();
    const [output] = layer.call(rnn.packSequence(given, false), states);
    const [padded] = rnn.padPackedSequence(output, true);
    padded.select(0, 1).sum().backward();
    const own = states.detach().select(1, 1).clone().requiresGrad_();
    layer.call(given[1], own)[0].sum().backward();
    assertTensor(states.grad.select(1, 1), numbers(own.grad), { rtol: 1e-12, atol: 1e-12 });
    assert.equal(states.grad.select(1, 0).abs().sum().item(), 0);
    const wrong = eg.zeros([4, 2, 4], kDouble);
    assertThrows(
      () => layer.call(rnn.packSequence(given, false), wrong),
      "ShapeMismatch",
      /hidden\[0\]: expected the shape \[4, 5, 4\]/,
    );
  });
});

test("packed sequences change their dtype, and are themselves where nothing changes", () => {
  const { packSequence, unpackSequence, padSequence } = eg.nn.utils.rnn;
  const packed = packSequence([eg.tensor([1, 2]), eg.tensor([3, 4, 5])], false);
  const dtypes = { double: "float64", half: "float16", long: "int64", int: "int32" };
  const small = { float: "float32", short: "int16", char: "int8", byte: "uint8" };
  for (const [name, dtype] of Object.entries({ ...dtypes, ...small })) {
    const changed = packed[name]();
    assert.equal(changed.data.dtype, dtype);
    assertTensor(unpackSequence(changed)[1], [3, 4, 5]);
  }
  assert.equal(packed.to("cpu"), packed);
  assert.equal(packed.cpu().float(), packed);
  assert.equal(packed.to({ dtype: "float64" }).sortedIndices, packed.sortedIndices);
  const rows = eg.tensor([
    [1, 2],
    [3, 4],
  ]);
  assertTensor(padSequence(rows), [1, 3, 2, 4], { shape: [2, 2] });
});
