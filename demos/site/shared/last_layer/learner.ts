// A frozen body with a last layer that learns, in the worker of a page.

import * as eg from "edgegrad";
import { Head } from "./head.js";
import type { Learned, Lesson } from "./messages.js";

// Parts of the examples that are left out in turn to see what is recognized.
const kParts = 4;

/** What is particular to a kind of example. */
export interface Body<Example> {
  /** Says in a saved file which page can read it. */
  readonly format: string;
  /** The features of one example as it is, [1, size]. */
  readonly features: (example: Example) => eg.Tensor;
  /** The features of variants of examples, [variants · count, size]: all first variants, all second ones, and so on. */
  readonly featuresOfVariants: (examples: readonly Example[]) => eg.Tensor;
}

export class Learner<Example> {
  readonly #body: Body<Example>;
  #head: Head | null = null;

  constructor(body: Body<Example>) {
    this.#body = body;
  }

  /** What has been learned. Throws an Error if that is nothing. */
  get head(): Head {
    if (this.#head === null) throw new Error("nothing has been learned yet");
    return this.#head;
  }

  /** Learns to tell things apart, instead of those before. */
  learn({ names, examples, labels }: Lesson<Example>): Learned {
    const start = performance.now();
    const learned = eg.scope(() => {
      const features = eg.noGrad(() => this.#body.featuresOfVariants(examples));
      const variants = (features.shape[0] as number) / examples.length;
      const all = Array.from({ length: variants }, () => labels).flat();
      const head = Head.learn(names, features, eg.tensor(all, { dtype: "int64" }));
      for (const tensor of [...head.parameters(), ...head.buffers()]) eg.keep(tensor);
      return { head, accuracy: accuracyOf(names, features, labels) };
    });
    this.#replace(learned.head);
    return { milliseconds: performance.now() - start, accuracy: learned.accuracy };
  }

  /** How likely an example is each thing; null if nothing has been learned. */
  predict(example: Example): number[] | null {
    const head = this.#head;
    if (head === null) return null;
    return eg.scope(() => head.shares(eg.noGrad(() => this.#body.features(example))));
  }

  /** What has been learned, as a file. */
  save(): Uint8Array {
    return this.head.toBytes(this.#body.format);
  }

  /** Opens such a file; returns the names of the things. */
  open(bytes: Uint8Array): readonly string[] {
    this.#replace(Head.fromBytes(bytes, this.#body.format));
    return this.head.names;
  }

  #replace(head: Head): void {
    this.#head?.dispose();
    this.#head = head;
  }
}

// Every part of the examples is recognized by a layer that has learned the others.
function accuracyOf(
  names: readonly string[],
  features: eg.Tensor,
  labels: readonly number[],
): number | null {
  const places = placesInClasses(labels);
  const smallest = Math.min(...names.map((_, name) => labels.filter((one) => one === name).length));
  if (smallest < kParts) return null;
  const rows = Array.from({ length: features.shape[0] as number }, (_, row) => row);
  let correct = 0;
  for (let part = 0; part < kParts; part++) {
    const isTested = (row: number) => (places[row % labels.length] as number) % kParts === part;
    const labelsOf = (chosen: readonly number[]) =>
      eg.tensor(
        chosen.map((row) => labels[row % labels.length] as number),
        { dtype: "int64" },
      );
    const take = (chosen: readonly number[]) =>
      features.indexSelect(0, eg.tensor([...chosen], { dtype: "int64" }));
    const learned = rows.filter((row) => !isTested(row));
    // Of those that are left out, the first variants: the examples as they are.
    const tested = rows.slice(0, labels.length).filter(isTested);
    const head = Head.learn(names, take(learned), labelsOf(learned));
    const scores = eg.noGrad(() => head.call(take(tested)));
    correct += Number(scores.argmax(1).eq(labelsOf(tested)).sum().item());
  }
  return correct / labels.length;
}

// The position of each example among those of its class.
function placesInClasses(labels: readonly number[]): number[] {
  const counts = new Map<number, number>();
  return labels.map((label) => {
    const place = counts.get(label) ?? 0;
    counts.set(label, place + 1);
    return place;
  });
}
