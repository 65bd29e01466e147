// Stores a model of each size in the browser's origin private file system, with its loss chart.

import type { Learner } from "../../char_model/learner.mjs";
import type { Size } from "../../char_model/model.mjs";
import { packCheckpoint, unpackCheckpoint } from "../../support/checkpoint.mjs";
import { loadFile, removeFile, saveFile } from "../shared/opfs.js";
import type { Point } from "./messages.js";

const modelFile = (size: Size) => `gpt-${size}.safetensors`;
const pointsFile = (size: Size) => `gpt-${size}.json`;

/** Saves a learner and its chart; resolves to false if this browser cannot store them. */
export async function keepModel(
  size: Size,
  learner: Learner,
  points: readonly Point[],
): Promise<boolean> {
  const chart = new TextEncoder().encode(JSON.stringify(points));
  const isKept = await saveFile(modelFile(size), await packCheckpoint(learner));
  return isKept && (await saveFile(pointsFile(size), chart));
}

/** Restores the saved state of a learner, if there is one. */
export async function takeUpModel(size: Size, learner: Learner): Promise<void> {
  const bytes = await loadFile(modelFile(size));
  if (bytes !== null) unpackCheckpoint(learner, bytes);
}

/** The chart of the saved model; empty if there is none. */
export async function keptPoints(size: Size): Promise<Point[]> {
  const bytes = await loadFile(pointsFile(size));
  return bytes === null ? [] : (JSON.parse(new TextDecoder().decode(bytes)) as Point[]);
}

/** Deletes the saved model and its chart. */
export async function forgetModel(size: Size): Promise<void> {
  await removeFile(modelFile(size));
  await removeFile(pointsFile(size));
}
