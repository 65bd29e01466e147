// The settings, shared by the page and its worker.

import type { Device } from "edgegrad";

/** The features of a point that a network may use; the plane extends from -1 to 1. */
export const kFeatures = {
  x: (x: number) => 2 * x,
  y: (_: number, y: number) => 2 * y,
  "x²": (x: number) => 2 * x * x,
  "y²": (_: number, y: number) => 2 * y * y,
  x·y: (x: number, y: number) => 2 * x * y,
  "sin x": (x: number) => Math.sin(6 * x),
  "sin y": (_: number, y: number) => Math.sin(6 * y),
};

export type Feature = keyof typeof kFeatures;

export const kFeatureNames = Object.keys(kFeatures) as Feature[];

export const kDatasets = ["spiral", "circle", "xor", "gauss"] as const;
export const kActivations = ["Tanh", "ReLU", "Sigmoid", "SiLU"] as const;
export const kPenalties = ["none", "L1", "L2"] as const;

/** The maximum number of hidden layers, and of neurons in each. */
export const kMostLayers = 4;
export const kMostNeurons = 8;

/** Values per side of a picture of the plane. */
export const kGrid = 48;

/** Settings that may change during training. */
export interface Tuning {
  readonly learningRate: number;
  readonly penalty: (typeof kPenalties)[number];
  readonly penaltyRate: number;
}

/** All settings; a change of those below requires a new network or new data. */
export interface Settings extends Tuning {
  readonly dataset: (typeof kDatasets)[number];
  /** From 0 to 1. */
  readonly noise: number;
  readonly features: readonly Feature[];
  /** Neurons in each hidden layer. */
  readonly hidden: readonly number[];
  readonly activation: (typeof kActivations)[number];
  readonly device: Device;
}

/** The settings with which the page opens. */
export const kFirstSettings: Settings = {
  learningRate: 0.01,
  penalty: "none",
  penaltyRate: 0.001,
  dataset: "spiral",
  noise: 0.05,
  features: ["x", "y"],
  hidden: [8, 6],
  activation: "Tanh",
  device: "cpu",
};

/** The values of a feature at every point of the grid, from the top left, row by row. */
export function featureOnGrid(feature: Feature): Float32Array {
  return Float32Array.from({ length: kGrid * kGrid }, (_, i) =>
    kFeatures[feature](...gridPoint(i)),
  );
}

/** The point of the value `i` of a picture. */
export function gridPoint(i: number): [x: number, y: number] {
  const at = (index: number) => ((index + 0.5) / kGrid) * 2 - 1;
  return [at(i % kGrid), -at(Math.floor(i / kGrid))];
}
