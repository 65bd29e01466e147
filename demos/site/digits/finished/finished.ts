// The classifiers that the page opens with, which finished/train.ts has trained.

import type { Chart } from "../chart.js";
import type { ModelName } from "../models.mjs";
import convolutionalChart from "./convolutional.json";
import convolutional from "./convolutional.safetensors?url";
import denseChart from "./dense.json";
import dense from "./dense.safetensors?url";
import digit from "./digit.json";

const kCharts = { dense: denseChart, convolutional: convolutionalChart };
const kWeights = { dense, convolutional };

/** A test digit, which the page shows first. */
export const kFirstDigit = Uint8Array.from(digit);

/** The charts of a classifier's training. */
export function finishedChart(name: ModelName): Chart {
  return kCharts[name] as unknown as Chart;
}

/** The weights of a classifier, as a safetensors file. */
export async function finishedWeights(name: ModelName): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(kWeights[name])).arrayBuffer());
}
