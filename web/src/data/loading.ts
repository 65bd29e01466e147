// The batches that are being loaded in one pass of a DataLoader, and what becomes of those that nobody takes.

import { DeferredScope, disposeAll } from "../tensor/scope.js";
import type { Source } from "./source.js";

/** A pass that ends early waits this long for what is being loaded; what comes later is freed then. */
const kCloseTimeout = 1000;

interface Loading<Batch> {
  /** The tensors made for the batch: code of the pass before may load it. */
  readonly deferred: DeferredScope;
  readonly result: Promise<IteratorResult<Batch, undefined>>;
}

/** Batches in the order they were asked for, some of which load ahead. */
export class LoadingBatches<Batch> {
  readonly #ahead: Loading<Batch>[] = [];

  /** `areOwn` says that a batch which is not given away has nothing in it that anybody else has. */
  constructor(
    private readonly source: Source<Batch>,
    private readonly prefetch: number,
    private readonly areOwn: boolean,
  ) {}

  /** Returns the next batch, whose tensors then belong to the code that asked for it. */
  async next(): Promise<IteratorResult<Batch, undefined>> {
    while (this.#ahead.length <= this.prefetch) this.#ahead.push(this.#begin());
    const { deferred, result } = this.#ahead.shift() as Loading<Batch>;
    try {
      return await result;
    } finally {
      deferred.deliver();
    }
  }

  /** Ends the pass. Where it has failed already, errors of closing are not told. */
  async close(hasFailed: boolean): Promise<void> {
    const left = this.#ahead.map((loading) => this.#abandon(loading));
    const closing = this.source.close();
    const closed = hasFailed ? closing.catch(() => {}) : closing;
    // What is still being loaded may never come, which is no reason to wait for ever.
    await (left.length === 0 ? closed : inTime(Promise.all([closed, ...left])));
  }

  #begin(): Loading<Batch> {
    const deferred = new DeferredScope();
    const fill = <T>(code: () => T): T => deferred.fill(code);
    const result = deferred.fill(() => this.source.next(fill));
    // It is awaited later, or never, and must not count as a failure that nobody handles.
    result.catch(() => {});
    return { deferred, result };
  }

  async #abandon({ deferred, result }: Loading<Batch>): Promise<void> {
    const { value } = await result.catch(() => ({ value: undefined }));
    if (this.areOwn) disposeAll(value);
    deferred.deliver();
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, kCloseTimeout);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
