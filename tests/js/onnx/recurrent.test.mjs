// RNN, GRU and LSTM: step by step, and by the layers of eg.nn.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const lists = (value) => value.arraySync();

describe("recurrent layers", () => {
  const [time, batch, size, hidden] = [5, 2, 3, 4];
  // Numbers that look random.
  const numbers = (count, seed) =>
    Array.from({ length: count }, (_, i) => Math.sin(seed + 1.7 * i) / 2);
  const kGates = { RNN: 1, GRU: 3, LSTM: 4 };

  const layer = (kind, directions, attributes, more = []) => {
    const gates = kGates[kind] * hidden;
    return onnx.load(
      model({
        inputs: [valueInfo("x", [time, batch, size])],
        outputs: ["y", "h", ...(kind === "LSTM" ? ["c"] : [])].map((name) => valueInfo(name, null)),
        initializers: [
          tensorProto("w", [directions, gates, size], numbers(directions * gates * size, 1)),
          tensorProto("r", [directions, gates, hidden], numbers(directions * gates * hidden, 2)),
          tensorProto("b", [directions, 2 * gates], numbers(directions * 2 * gates, 3)),
          tensorProto("h0", [directions, batch, hidden], numbers(directions * batch * hidden, 4)),
          tensorProto("c0", [directions, batch, hidden], numbers(directions * batch * hidden, 5)),
          tensorProto("lengths", [batch], new Array(batch).fill(time), 6),
        ],
        nodes: [
          node(
            kind,
            ["x", "w", "r", "b", ...more, "h0", ...(kind === "LSTM" ? ["c0"] : [])],
            ["y", "h", ...(kind === "LSTM" ? ["c"] : [])],
            { hidden_size: hidden, ...attributes },
          ),
        ],
      }),
    );
  };

  for (const kind of Object.keys(kGates)) {
    for (const direction of ["forward", "reverse", "bidirectional"]) {
      test(`${kind}, ${direction}: step by step and as a layer of eg.nn are the same`, async () => {
        const directions = direction === "bidirectional" ? 2 : 1;
        const attributes = { direction, linear_before_reset: 1 };
        if (kind !== "GRU") delete attributes.linear_before_reset;
        const whole = await layer(kind, directions, attributes, [""]);
        // Lengths, also those of whole sequences, are computed step by step.
        const stepwise = await layer(kind, directions, attributes, ["lengths"]);
        const input = eg.tensor(numbers(time * batch * size, 6)).reshape([time, batch, size]);
        const results = [whole, stepwise].map((module) => {
          const outputs = module.call(input);
          outputs.reduce((sum, one) => sum.add(one.square().sum()), eg.zeros([])).backward();
          return [...outputs, ...module.parameters().map(({ grad }) => grad)];
        });
        for (const [i, one] of results[0].entries()) {
          eg.testing.assertClose(one, results[1][i], { rtol: 1e-4, atol: 1e-5 });
        }
      });
    }
  }

  test("a module is still there after the engine has been restarted, when it is loaded again", async () => {
    const layer = model({
      inputs: [valueInfo("x", [2, 1, 3])],
      outputs: [valueInfo("y", null)],
      initializers: [
        tensorProto("w", [1, 16, 3], new Array(48).fill(0.1)),
        tensorProto("r", [1, 16, 4], new Array(64).fill(0.1)),
      ],
      nodes: [node("LSTM", ["x", "w", "r"], ["y"], { hidden_size: 4 })],
    });
    const run = async () => lists((await onnx.load(layer)).call(eg.ones([2, 1, 3])));
    const before = await run();
    await eg.shutdown();
    await eg.init();
    assert.deepEqual(await run(), before);
  });
});
