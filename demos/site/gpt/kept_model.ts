// A model of each size is kept in the browser's own files, with its loss chart.

import type { Learner } from "../../char_model/learner.mjs";
import type { Size } from "../../char_model/model.mjs";
import { packCheckpoint, unpackCheckpoint } from "../../support/checkpoint.mjs";
import { loadFile, removeFile, saveFile } from "../shared/opfs.js";
import type { Point } from "./messages.js";

const modelFile = (size: Size) => `gpt-${size}.safetensors`;
const pointsFile = (size: Size) => `gpt-${size}.json`;

/** Keeps what a learner has learned, and its chart; resolves to false where this browser cannot. */
export async function keepModel(
  size: Size,
  learner: Learner,
  points: readonly Point[],
): Promise<boolean> {
  const chart = new TextEncoder().encode(JSON.stringify(points));
  const isKept = await saveFile(modelFile(size), await packCheckpoint(learner));
  return isKept && (await saveFile(pointsFile(size), chart));
}

/** Has a learner go on where the kept one was, if there is one. */
export async function takeUpModel(size: Size, learner: Learner): Promise<void> {
  const bytes = await loadFile(modelFile(size));
  if (bytes !== null) unpackCheckpoint(learner, bytes);
}

/** The chart of the kept model; empty where there is none. */
export async function keptPoints(size: Size): Promise<Point[]> {
  const bytes = await loadFile(pointsFile(size));
  return bytes === null ? [] : (JSON.parse(new TextDecoder().decode(bytes)) as Point[]);
}

/** Forgets the kept model and its chart. */
export async function forgetModel(size: Size): Promise<void> {
  await removeFile(modelFile(size));
  await removeFile(pointsFile(size));
}
