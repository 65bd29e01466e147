// Collects the errors of a device until they are reported to the host.

export interface PlayerError {
  readonly kind: "validation" | "out-of-memory" | "lost" | "index" | "internal";
  /** The op that failed; empty if unknown. */
  readonly op: string;
  readonly message: string;
  /** For kind "index": the index that was out of range. */
  readonly index?: number;
}

interface Watched<T> {
  readonly result: T;
  readonly failure: Promise<PlayerError | undefined>;
}

type Filter = "validation" | "out-of-memory" | "internal";

/** Stores the first error until a read reports it. WebGPU reports errors asynchronously: `settled` waits for them. */
export class ErrorCollector {
  readonly #device: GPUDevice;
  #first: { order: number; error: PlayerError } | undefined;
  #lost: PlayerError | undefined;
  #order = 0;
  readonly #pending = new Set<Promise<void>>();

  constructor(device: GPUDevice, onLost: (error: PlayerError) => void) {
    this.#device = device;
    void device.lost.then(({ message }) => {
      this.#lost = {
        kind: "lost",
        op: "",
        message: message.replace(/\.$/, "") || "without a reason",
      };
      onLost(this.#lost);
    });
  }

  get lost(): PlayerError | undefined {
    return this.#lost;
  }

  add(error: PlayerError): void {
    this.#add(error, this.#order++);
  }

  /** Runs `work` and stores the errors that WebGPU reports for it later. */
  watch<T>(filters: readonly Filter[], op: string, work: () => T): T {
    return this.#scoped(filters, op, "", work).result;
  }

  /** Like `watch`, but also returns the first error of this work; its message is prefixed with `about`. */
  watchWithFailure<T>(filters: readonly Filter[], about: string, work: () => T): Watched<T> {
    const { result, errors } = this.#scoped(filters, "", about, work);
    const failure = Promise.all(errors).then((all) => all.find((error) => error !== undefined));
    return { result, failure };
  }

  /** Resolves when WebGPU has reported the errors of all work so far. */
  async settled(): Promise<void> {
    await Promise.all([...this.#pending]);
  }

  /** Returns the first error since the previous call and removes it. A lost device stays an error. */
  take(): PlayerError | undefined {
    const error = this.#lost ?? this.#first?.error;
    this.#first = undefined;
    return error;
  }

  #scoped<T>(filters: readonly Filter[], op: string, about: string, work: () => T) {
    for (const filter of filters) this.#device.pushErrorScope(filter);
    const order = this.#order++;
    const errors: Promise<PlayerError | undefined>[] = [];
    try {
      return { result: work(), errors };
    } finally {
      for (const kind of [...filters].reverse())
        errors.push(this.#pop({ kind, op, message: about }, order));
    }
  }

  // `about` is the error to report, without the end of its message.
  #pop(about: PlayerError, order: number): Promise<PlayerError | undefined> {
    const watchWithFailure = this.#device.popErrorScope().then(
      (error) => {
        const found = error ? { ...about, message: about.message + error.message } : undefined;
        if (found !== undefined) this.#add(found, order);
        return found;
      },
      // Popping a scope fails on a lost device; its loss is reported separately.
      () => undefined,
    );
    const pending = watchWithFailure.then(() => {
      this.#pending.delete(pending);
    });
    this.#pending.add(pending);
    return watchWithFailure;
  }

  #add(error: PlayerError, order: number): void {
    if (this.#first === undefined || order < this.#first.order) this.#first = { order, error };
  }
}

/** Converts an exception to an error of an op. */
export function asPlayerError(exception: unknown, op: string): PlayerError {
  const message = exception instanceof Error ? exception.message : String(exception);
  return { kind: "internal", op, message };
}
