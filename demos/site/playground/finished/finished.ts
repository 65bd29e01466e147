// The network that the page opens with, which finished/train.ts has trained.

import spiral from "./spiral.json";

/** A training: the losses of training and test by step, and the parameters of the network. */
export interface Finished {
  readonly steps: number;
  readonly points: readonly (readonly [step: number, train: number, test: number])[];
  readonly parameters: readonly (readonly number[])[];
}

/** The network for the settings with which the page opens. */
export const kFinished = spiral as unknown as Finished;
