// Inference of ONNX models beside onnxruntime-web, both on one thread of WebAssembly.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { kOnnxNames } from "../models/onnx_names.mjs";
import { errorIn } from "../runner.mjs";

const kProgram = fileURLToPath(new URL("../programs/onnx.mjs", import.meta.url));

export default {
  name: "onnx",
  title: "Inference of an ONNX model, one thread",
  contenders: ["edgegrad", "ort"],

  rows: () =>
    Object.values(kOnnxNames).flatMap((name) => [
      { id: name, unit: "ms", title: name, better: "lower" },
      { id: ratioOf(name), title: `${name}, pairs`, better: "higher", target: 1 },
    ]),

  async measureAll(node, { quick }) {
    const counts = quick ? ["5", "2"] : ["25", "5"];
    const { results, failure } = await promisify(execFile)(node, [kProgram, ...counts]).then(
      ({ stdout }) => ({ results: JSON.parse(stdout.trim().split("\n").at(-1)), failure: null }),
      (error) => ({ results: {}, failure: errorIn(error.stderr ?? "") ?? error.message }),
    );
    const all = Object.entries(results);
    const times = (key) => Object.fromEntries(all.map(([name, figures]) => [name, figures[key]]));
    const ratios = all.map(([name, { ratio }]) => [ratioOf(name), ratio]);
    return [
      { contender: "edgegrad", values: { ...times("ours"), ...Object.fromEntries(ratios) } },
      { contender: "ort", values: times("theirs") },
    ].map((one) => ({ ...one, errors: {}, data: {}, failure }));
  },
};

// How many times longer the other one takes: the median over the pairs, in which disturbances meet both.
const ratioOf = (name) => `${name}: ratio`;
