// The worker of the page: the frozen backbone, and the last layer that learns.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { startEngine } from "../shared/trainer.js";
import { Backbone, kSide } from "./backbone/model.mjs";
import weightsUrl from "./backbone/weights.safetensors?url";
import { Head } from "./head.js";
import type { Learned, Lesson, Pixels } from "./messages.js";
import { kVariants, tensorOf, variantsOf } from "./variants.js";

// Parts of the pictures that are left out in turn to see what is recognized.
const kParts = 4;
// Pictures whose features are computed at once.
const kAtOnce = 64;

class Personalizer {
  #backbone: Backbone | null = null;
  #head: Head | null = null;

  async start(): Promise<eg.RuntimeInfo> {
    const runtime = await startEngine("cpu");
    const answer = await fetch(weightsUrl);
    if (!answer.ok)
      throw new Error(`the weights: the server answered with status ${answer.status}`);
    const weights = eg.io.loadSafetensors(new Uint8Array(await answer.arrayBuffer()));
    const backbone = new Backbone();
    // They are stored in half precision.
    backbone.loadStateDict(weights);
    this.#backbone = backbone.eval();
    return runtime;
  }

  /** Learns to tell things apart, instead of those before. */
  learn({ names, pictures, labels }: Lesson): Learned {
    const start = performance.now();
    const learned = eg.scope(() => {
      const features = this.#featuresOfVariants(pictures);
      const head = Head.learn(names, features, repeated(labels));
      for (const tensor of [...head.parameters(), ...head.buffers()]) eg.keep(tensor);
      return { head, accuracy: accuracyOf(names, features, labels) };
    });
    this.#head?.dispose();
    this.#head = learned.head;
    return { milliseconds: performance.now() - start, accuracy: learned.accuracy };
  }

  /** How likely a picture shows each thing; null if nothing has been learned. */
  predict(picture: Pixels): number[] | null {
    const head = this.#head;
    if (head === null) return null;
    return eg.scope(() =>
      eg.noGrad(() => {
        const features = this.#started().call(tensorOf([picture]));
        return Array.from(head.call(features).softmax(1).dataSync(), Number);
      }),
    );
  }

  /** What has been learned, as a file. */
  save(): Uint8Array {
    if (this.#head === null) throw new Error("nothing has been learned yet");
    return this.#head.toBytes();
  }

  /** The backbone and what has been learned, as an ONNX file of pictures float32 [1, 3, 64, 64] from 0 to 1. */
  async onnx(): Promise<Uint8Array> {
    const [backbone, head] = [this.#started(), this.#head];
    if (head === null) throw new Error("nothing has been learned yet");
    const { save } = await import("edgegrad/onnx");
    const input = eg.zeros([1, 3, kSide, kSide]);
    try {
      return await save((pictures: eg.Tensor) => head.call(backbone.call(pictures)).softmax(1), {
        inputs: [input],
        inputNames: ["pictures"],
        outputNames: ["shares"],
        metadata: { names: JSON.stringify(head.names) },
      });
    } finally {
      input.dispose();
    }
  }

  /** Opens such a file; returns the names of the things. */
  open(bytes: Uint8Array): readonly string[] {
    const head = Head.fromBytes(bytes);
    this.#head?.dispose();
    this.#head = head;
    return head.names;
  }

  #started(): Backbone {
    if (this.#backbone === null) throw new Error("call start() first");
    return this.#backbone;
  }

  // [variants · count, features]: all first variants, all second ones, and so on.
  #featuresOfVariants(pictures: readonly Pixels[]): eg.Tensor {
    const backbone = this.#started();
    return eg.noGrad(() => {
      const variants = variantsOf(tensorOf(pictures));
      const parts = variants.split(kAtOnce).map((part) => backbone.call(part));
      return eg.cat(parts, 0);
    });
  }
}

function repeated(labels: readonly number[]): eg.Tensor {
  const all = Array.from({ length: kVariants }, () => labels).flat();
  return eg.tensor(all, { dtype: "int64" });
}

// Every part of the pictures is recognized by a layer that has learned the others.
function accuracyOf(
  names: readonly string[],
  features: eg.Tensor,
  labels: readonly number[],
): number | null {
  const places = placesInClasses(labels);
  const smallest = Math.min(
    ...names.map((_, name) => labels.filter((label) => label === name).length),
  );
  if (smallest < kParts) return null;
  let correct = 0;
  for (let part = 0; part < kParts; part++) {
    const isTested = labels.map((_, i) => (places[i] as number) % kParts === part);
    const rowsOf = (wanted: boolean, variants: number) =>
      Array.from({ length: variants * labels.length }, (_, row) => row).filter(
        (row) => isTested[row % labels.length] === wanted,
      );
    const labelsOf = (rows: readonly number[]) =>
      eg.tensor(
        rows.map((row) => labels[row % labels.length] as number),
        { dtype: "int64" },
      );
    const take = (rows: readonly number[]) =>
      features.indexSelect(0, eg.tensor([...rows], { dtype: "int64" }));
    const [learned, tested] = [rowsOf(false, kVariants), rowsOf(true, 1)];
    const head = Head.learn(names, take(learned), labelsOf(learned));
    const scores = eg.noGrad(() => head.call(take(tested)));
    correct += Number(scores.argmax(1).eq(labelsOf(tested)).sum().item());
  }
  return correct / labels.length;
}

// The position of each picture among those of its class.
function placesInClasses(labels: readonly number[]): number[] {
  const counts = new Map<number, number>();
  return labels.map((label) => {
    const place = counts.get(label) ?? 0;
    counts.set(label, place + 1);
    return place;
  });
}

export type { Personalizer };

expose(new Personalizer());
