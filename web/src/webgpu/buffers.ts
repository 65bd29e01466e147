// All GPU buffers of a player: what cannot be created is out of memory, with the numbers.

import { type ErrorCollector, type PlayerError, reasonOf, TooLarge } from "./errors";

/** A buffer whose creation may have failed. */
interface Created {
  readonly buffer: GPUBuffer;
  readonly failure: Promise<PlayerError | undefined>;
}

export class Buffers {
  readonly #device: GPUDevice;
  readonly #errors: ErrorCollector;
  readonly #sizes = new Map<GPUBuffer, number>();
  #bytes = 0;
  #shortage: PlayerError | undefined;

  constructor(device: GPUDevice, errors: ErrorCollector) {
    this.#device = device;
    this.#errors = errors;
  }

  /** Creates a buffer; `failure` resolves to the error if that fails. Throws TooLarge if memory that is mapped cannot be had at once. */
  create(size: number, usage: number, mappedAtCreation = false): Created {
    const { result: buffer, failure } = this.#errors.attempt(
      ["validation", "out-of-memory"],
      "",
      () => {
        try {
          return this.#device.createBuffer({ size, usage, mappedAtCreation });
        } catch (exception) {
          throw new TooLarge(this.#textFor(size, reasonOf(exception)));
        }
      },
    );
    this.#sizes.set(buffer, size);
    this.#bytes += size;
    const shortage = failure.then((error) => {
      if (error === undefined) return undefined;
      this.#forget(buffer);
      const message = this.#textFor(size, error.message);
      this.#shortage = { kind: "out-of-memory", op: "", message };
      return this.#shortage;
    });
    return { buffer, failure: shortage };
  }

  /** Returns the last failure since the previous call: a batch that uses what does not exist fails, too. */
  takeShortage(): PlayerError | undefined {
    const shortage = this.#shortage;
    this.#shortage = undefined;
    return shortage;
  }

  destroy(buffer: GPUBuffer): void {
    this.#forget(buffer);
    buffer.destroy();
  }

  /** Leaves a buffer to the page, which destroys it. */
  disown(buffer: GPUBuffer): void {
    this.#forget(buffer);
  }

  /** Destroys all buffers. */
  destroyAll(): void {
    for (const buffer of [...this.#sizes.keys()]) this.destroy(buffer);
  }

  #forget(buffer: GPUBuffer): void {
    this.#bytes -= this.#sizes.get(buffer) ?? 0;
    this.#sizes.delete(buffer);
  }

  #textFor(size: number, reason: string): string {
    return `${size} bytes could not be allocated on the GPU, where ${this.#bytes} are in use: ${reason}`;
  }
}
