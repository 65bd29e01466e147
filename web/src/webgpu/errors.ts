// What goes wrong on a device, and when the host hears of it.

export interface PlayerError {
  readonly kind: "validation" | "out-of-memory" | "lost" | "index" | "internal";
  /** The op that it happened to; empty where that is not known. */
  readonly op: string;
  readonly message: string;
  /** Of kind "index": the index that was out of range. */
  readonly index?: number;
}

interface Watched<T> {
  readonly result: T;
  readonly failure: Promise<PlayerError | undefined>;
}

type Filter = "validation" | "out-of-memory" | "internal";

/** Keeps the first error until a read takes it along. WebGPU reports late: `settled` waits for that. */
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

  /** Does `work`, which WebGPU judges later, and keeps what it says. */
  watch<T>(filters: readonly Filter[], op: string, work: () => T): T {
    return this.#scoped(filters, op, "", work).result;
  }

  /** The same, and what it says of this work alone; `about` comes before that. */
  watchWithFailure<T>(filters: readonly Filter[], about: string, work: () => T): Watched<T> {
    const { result, errors } = this.#scoped(filters, "", about, work);
    const failure = Promise.all(errors).then((all) => all.find((error) => error !== undefined));
    return { result, failure };
  }

  /** All that has been done so far has been judged. */
  async settled(): Promise<void> {
    await Promise.all([...this.#pending]);
  }

  /** The first error since the last one that was taken. */
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

  // `about` is the error if there is one, but for the end of its message.
  #pop(about: PlayerError, order: number): Promise<PlayerError | undefined> {
    const watchWithFailure = this.#device.popErrorScope().then(
      (error) => {
        const found = error ? { ...about, message: about.message + error.message } : undefined;
        if (found !== undefined) this.#add(found, order);
        return found;
      },
      // The scopes of a lost device are refused; its loss is told by itself.
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

/** An exception as the error of an op. */
export function asPlayerError(exception: unknown, op: string): PlayerError {
  const message = exception instanceof Error ? exception.message : String(exception);
  return { kind: "internal", op, message };
}
