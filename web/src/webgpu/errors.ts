// Collects the errors of a device until they are reported to the host.

export interface PlayerError {
  readonly kind: "validation" | "out-of-memory" | "lost" | "index" | "argument" | "internal";
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

/**
 * Stores the first error that belongs to no block until a read reports it. WebGPU reports errors asynchronously: `settled` waits for
 * them, and `attempted` for those of what has just been created.
 */
export class ErrorCollector {
  readonly #device: GPUDevice;
  #onLost: ((error: PlayerError) => void) | undefined;
  #first: { order: number; error: PlayerError } | undefined;
  #lost: PlayerError | undefined;
  #order = 0;
  readonly #pending = new Set<Promise<void>>();
  #attempts: Promise<PlayerError | undefined>[] = [];
  // Ends the waits for answers that a lost device may never give.
  readonly #answers = new Set<(error: PlayerError | undefined) => void>();

  constructor(device: GPUDevice, onLost: (error: PlayerError) => void) {
    this.#device = device;
    this.#onLost = onLost;
    void device.lost.then(({ message }) => {
      this.#lost = {
        kind: "lost",
        op: "",
        message: message.replace(/\.$/, "") || "without a reason",
      };
      for (const end of this.#answers) end(undefined);
      this.#onLost?.(this.#lost);
    });
  }

  /** From here on, nobody is told of the loss: the device may live longer than what uses it. */
  ignoreLoss(): void {
    this.#onLost = undefined;
  }

  get lost(): PlayerError | undefined {
    return this.#lost;
  }

  add(error: PlayerError): void {
    this.#add(error, this.#order++);
  }

  /** Runs `work` and stores the errors that WebGPU reports for it later. */
  watch<T>(filters: readonly Filter[], op: string, work: () => T): T {
    const order = this.#order;
    const { result, failure } = this.#scoped(filters, op, work);
    this.#wait(failure.then((error) => error && this.#add(error, order)));
    return result;
  }

  /** Runs `work`, whose errors the caller handles. */
  attempt<T>(filters: readonly Filter[], op: string, work: () => T): Watched<T> {
    const { result, failure } = this.#scoped(filters, op, work);
    this.#wait(failure);
    return { result, failure };
  }

  /** Runs `work`, which creates something that the next kernel needs: `attempted` returns its errors. */
  create<T>(filters: readonly Filter[], op: string, work: () => T): Watched<T> {
    const attempt = this.attempt(filters, op, work);
    this.#attempts.push(attempt.failure);
    return attempt;
  }

  /**
   * Runs `work`, which begins to create something; `failure` resolves when that is done, or the device is lost. `result` resolves
   * only if it was created.
   */
  createLater<T>(
    filters: readonly Filter[],
    op: string,
    work: () => Promise<T>,
  ): { readonly result: Promise<T>; readonly failure: Promise<PlayerError | undefined> } {
    const { result, failure } = this.#scoped(filters, op, work);
    const finished = this.#answer(
      result.then(() => undefined),
      (exception) => asPlayerError(exception, op),
    );
    // The error of a shader says more than that of the pipeline which it causes.
    return { result, failure: Promise.all([failure, finished]).then(([a, b]) => a ?? b) };
  }

  /** Adds the failure of something that the next kernel needs to those that `attempted` returns. */
  need(failure: Promise<PlayerError | undefined>): void {
    this.#attempts.push(failure);
  }

  /** Resolves to the first error of what was created since the last call; undefined if nothing was. */
  attempted(): Promise<PlayerError | undefined> | undefined {
    if (this.#attempts.length === 0) return undefined;
    const attempts = this.#attempts;
    this.#attempts = [];
    return Promise.all(attempts).then((all) => all.find((error) => error !== undefined));
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

  #scoped<T>(filters: readonly Filter[], op: string, work: () => T): Watched<T> {
    for (const filter of filters) this.#device.pushErrorScope(filter);
    this.#order++;
    const errors: Promise<PlayerError | undefined>[] = [];
    let result: T;
    try {
      result = work();
    } finally {
      for (const kind of [...filters].reverse()) errors.push(this.#pop(kind, op));
    }
    const failure = Promise.all(errors).then((all) => all.find((error) => error !== undefined));
    return { result, failure };
  }

  #pop(kind: Filter, op: string): Promise<PlayerError | undefined> {
    const popped = this.#device.popErrorScope();
    return this.#answer(
      popped.then((error) => (error ? { kind, op, message: error.message } : undefined)),
      // Popping a scope fails on a lost device; its loss is reported separately.
      () => undefined,
    );
  }

  // Resolves to the error that `answer` resolves to; undefined once the device is lost.
  #answer(
    answer: Promise<PlayerError | undefined>,
    errorOf: (exception: unknown) => PlayerError | undefined,
  ): Promise<PlayerError | undefined> {
    return new Promise((resolve) => {
      const end = (error: PlayerError | undefined) => {
        this.#answers.delete(end);
        resolve(error);
      };
      this.#answers.add(end);
      answer.then(end, (exception) => end(errorOf(exception)));
      if (this.#lost !== undefined) end(undefined);
    });
  }

  #wait(failure: Promise<unknown>): void {
    const pending = failure.then(() => {
      this.#pending.delete(pending);
    });
    this.#pending.add(pending);
  }

  #add(error: PlayerError, order: number): void {
    if (this.#first === undefined || order < this.#first.order) this.#first = { order, error };
  }
}

/** More memory is needed than the device can provide at once. */
export class TooLarge extends Error {}

/** Converts an exception to an error of an op. */
export function asPlayerError(exception: unknown, op: string): PlayerError {
  const kind = exception instanceof TooLarge ? "out-of-memory" : "internal";
  return { kind, op, message: reasonOf(exception) };
}

/** Returns the message of an exception. */
export function reasonOf(exception: unknown): string {
  return exception instanceof Error ? exception.message : String(exception);
}
