// The digits, streamed: training can start when the first file has arrived.

export const kSide = 28;
export const kPixels = kSide * kSide;

/** Digits with their labels; pixels from 0 to 255, row by row. */
export interface Digits {
  readonly labels: Uint8Array;
  readonly images: Uint8Array;
}

// The files that digits/shards.mjs writes. The test digits come second, so that the accuracy is known early.
const kTrainFiles = 12;
const kTestFile = "test.bin";
const kAllBytes = 70_000 * (kPixels + 1);

/** All of MNIST, which is filled while it is being used. */
export class DigitStream {
  readonly train: Digits[] = [];
  test: Digits | null = null;
  /** Resolves when the first training digits have arrived. */
  readonly ready: Promise<void>;
  /** Resolves when the test digits have arrived. */
  readonly testable: Promise<void>;
  /** Resolves when all digits have arrived. */
  readonly done: Promise<void>;

  /** `watch` receives the share that has arrived, from 0 to 1. */
  constructor(folder: string, watch: (share: number) => void) {
    let bytes = 0;
    const count = (arrived: number) => {
      bytes += arrived;
      watch(bytes / kAllBytes);
    };
    this.ready = this.#load(folder, "train-0.bin", count);
    this.testable = this.ready.then(() => this.#load(folder, kTestFile, count));
    this.done = this.testable.then(async () => {
      for (let i = 1; i < kTrainFiles; i++) await this.#load(folder, `train-${i}.bin`, count);
    });
  }

  /** The number of training digits that have arrived. */
  get length(): number {
    return this.train.reduce((sum, { labels }) => sum + labels.length, 0);
  }

  /** Random digits among those that have arrived. */
  sample(count: number): Digits {
    return randomDigits(this.train, count);
  }

  async #load(folder: string, file: string, count: (bytes: number) => void): Promise<void> {
    const digits = digitsOf(await fetchUnpacked(new URL(file, folder), count));
    if (file === kTestFile) this.test = digits;
    else this.train.push(digits);
  }
}

/** Random digits of parts of the same size. */
export function randomDigits(parts: readonly Digits[], count: number): Digits {
  const sample = { labels: new Uint8Array(count), images: new Uint8Array(count * kPixels) };
  for (let i = 0; i < count; i++) {
    const part = parts[Math.floor(Math.random() * parts.length)] as Digits;
    copyDigit(part, Math.floor(Math.random() * part.labels.length), sample, i);
  }
  return sample;
}

/** Loads only the test digits. */
export async function loadTestDigits(folder: string): Promise<Digits> {
  return digitsOf(await fetchUnpacked(new URL(kTestFile, folder), () => {}));
}

/** Copies one digit with its label. */
export function copyDigit(from: Digits, i: number, to: Digits, k: number): void {
  to.labels[k] = from.labels[i] as number;
  to.images.set(from.images.subarray(i * kPixels, (i + 1) * kPixels), k * kPixels);
}

/** The digits from `start` on, at most `count`. */
export function sliceOf({ labels, images }: Digits, start: number, count: number): Digits {
  const end = Math.min(start + count, labels.length);
  return {
    labels: labels.subarray(start, end),
    images: images.subarray(start * kPixels, end * kPixels),
  };
}

function digitsOf(bytes: Uint8Array): Digits {
  const count = bytes.length / (kPixels + 1);
  return { labels: bytes.subarray(0, count), images: bytes.subarray(count) };
}

// Counts the decompressed bytes, because the Content-Length of a server may be that of another compression.
async function fetchUnpacked(url: URL, count: (bytes: number) => void): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new Error(
      `The digits could not be loaded: ${url.pathname} returned status ${response.status}.`,
    );
  }
  const chunks: Uint8Array[] = [];
  const reader = response.body.pipeThrough(new DecompressionStream("gzip")).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    count(part.value.length);
  }
  return joined(chunks);
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
