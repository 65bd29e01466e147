// What goes wrong on a device, and when the host hears of it.

export interface PlayerError {
  readonly kind: "validation" | "out-of-memory" | "lost" | "index" | "internal";
  /** The op that it happened to; empty where that is not known. */
  readonly op: string;
  readonly message: string;
  /** Of kind "index": the index that was out of range. */
  readonly index?: number;
}

type Filter = "validation" | "out-of-memory" | "internal";

/** Keeps the first error until a read takes it along. WebGPU reports late: `settled` waits for that. */
export class ErrorKeeper {
  readonly #device: GPUDevice;
  #first: { order: number; error: PlayerError } | undefined;
  #lost: PlayerError | undefined;
  #order = 0;
  readonly #open = new Set<Promise<void>>();

  constructor(device: GPUDevice, onLost: (error: PlayerError) => void) {
    this.#device = device;
    void device.lost.then(({ message }) => {
      this.#lost = { kind: "lost", op: "", message: message || "the device is lost" };
      onLost(this.#lost);
    });
  }

  get lost(): PlayerError | undefined {
    return this.#lost;
  }

  keep(error: PlayerError): void {
    this.#keep(error, this.#order++);
  }

  /** Does `work`, which WebGPU judges later, and keeps what it says. */
  watch<T>(filters: readonly Filter[], op: string, work: () => T): T {
    for (const filter of filters) this.#device.pushErrorScope(filter);
    const order = this.#order++;
    try {
      return work();
    } finally {
      for (const kind of [...filters].reverse()) this.#pop(kind, op, order);
    }
  }

  /** All that has been done so far has been judged. */
  async settled(): Promise<void> {
    await Promise.all([...this.#open]);
  }

  /** The first error since the last one that was taken. */
  take(): PlayerError | undefined {
    const error = this.#lost ?? this.#first?.error;
    this.#first = undefined;
    return error;
  }

  #pop(kind: Filter, op: string, order: number): void {
    const judged: Promise<void> = this.#device
      .popErrorScope()
      .then(
        (error) => error && this.#keep({ kind, op, message: error.message }, order),
        // The scopes of a lost device are refused; its loss is told by itself.
        () => undefined,
      )
      .then(() => {
        this.#open.delete(judged);
      });
    this.#open.add(judged);
  }

  #keep(error: PlayerError, order: number): void {
    if (this.#first === undefined || order < this.#first.order) this.#first = { order, error };
  }
}

/** An exception as the error of an op. */
export function asPlayerError(exception: unknown, op: string): PlayerError {
  const message = exception instanceof Error ? exception.message : String(exception);
  return { kind: "internal", op, message };
}
