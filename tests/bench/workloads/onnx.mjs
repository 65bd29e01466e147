// Inference of ONNX models beside onnxruntime-web: on one thread of WebAssembly in Node, and on WebGPU in Chromium.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ensurePackages } from "../../../scripts/machine/apt.mjs";
import { resultOf } from "../contenders.mjs";
import { kOnnxNames } from "../models/onnx_names.mjs";
import { errorIn } from "../runner.mjs";

const kProgram = fileURLToPath(new URL("../programs/onnx.mjs", import.meta.url));

/** The workloads: the figures of each come from one process or page, in which both are measured in pairs. */
export const kOnnx = [
  {
    name: "onnx",
    title: "Inference of an ONNX model, one thread",
    contenders: ["edgegrad", "ort"],
    rows,
    measureAll: (node, { quick }) =>
      measuredBy(() => resultsInNode(node, quick), "edgegrad", "ort"),
  },
  {
    name: "onnx-webgpu",
    title: "Inference of an ONNX model on WebGPU, in Chromium",
    contenders: ["edgegradGpu", "ortGpu"],
    newestNodeOnly: true,
    rows,
    prepare: () => ensurePackages("browser"),
    measureAll: (_node, { quick }) =>
      measuredBy(() => resultsInPage(quick), "edgegradGpu", "ortGpu"),
  },
];

function rows() {
  return Object.values(kOnnxNames).flatMap((name) => [
    { id: name, unit: "ms", title: name, better: "lower" },
    { id: ratioOf(name), title: `${name}, pairs`, better: "higher", target: 1 },
  ]);
}

async function resultsInNode(node, quick) {
  const counts = quick ? ["5", "2"] : ["25", "5"];
  const { stdout } = await promisify(execFile)(node, [kProgram, ...counts]).catch((error) => {
    throw new Error(errorIn(error.stderr ?? "") ?? error.message);
  });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

async function resultsInPage(quick) {
  const { kWebGpu, startChromium } = await import("../../browser/support/chromium.mjs");
  const { resultInPage, servePage } = await import("../pages.mjs");
  const page = await servePage("onnx_webgpu");
  const browser = await startChromium(kWebGpu);
  try {
    return await resultInPage(browser, `${page.url}?counts=${quick ? "1,1" : "3,1"}`);
  } finally {
    await browser.close();
    page.stop();
  }
}

async function measuredBy(measure, ours, theirs) {
  const { results, failure } = await measure().then(
    (results) => ({ results, failure: null }),
    (error) => ({ results: {}, failure: error.message }),
  );
  const all = Object.entries(results);
  const times = (key) => Object.fromEntries(all.map(([name, figures]) => [name, figures[key]]));
  const ratios = all.map(([name, { ratio }]) => [ratioOf(name), ratio]);
  return [
    resultOf(ours, { ...times("ours"), ...Object.fromEntries(ratios) }, failure),
    resultOf(theirs, times("theirs"), failure),
  ];
}

// How many times longer the other one takes: the median over the pairs, in which disturbances meet both.
const ratioOf = (name) => `${name}: ratio`;
