// The batches that one pass of a DataLoader is loading, including the cleanup of those that are not used.

import { type AbortSignalLike, unlessAborted } from "../runtime/host/abort.js";
import { clearTimeout, setTimeout } from "../runtime/host/host.js";
import { DeferredScope, disposeAll } from "../tensor/scope.js";
import type { Source } from "./source.js";

/** A pass that ends early waits at most this long, in milliseconds, for batches that are being loaded; later ones are freed then. */
const kCloseTimeout = 1000;

interface Loading<Batch> {
  /** The tensors of the batch, which are loaded before the code that uses them requests them. */
  readonly deferred: DeferredScope;
  readonly result: Promise<IteratorResult<Batch, undefined>>;
}

/** The batches of one pass in order, some of which are loaded ahead. */
export class LoadingBatches<Batch> {
  readonly #ahead: Loading<Batch>[] = [];

  /** `areOwn` is true if no other code can hold the tensors of a batch that has not been returned. */
  constructor(
    private readonly source: Source<Batch>,
    private readonly prefetch: number,
    private readonly areOwn: boolean,
    private readonly signal: AbortSignalLike | undefined,
  ) {}

  /** Returns the next batch, whose tensors then belong to the scope of the caller. */
  async next(): Promise<IteratorResult<Batch, undefined>> {
    while (this.#ahead.length <= this.prefetch) this.#ahead.push(this.#begin());
    const loading = this.#ahead.shift() as Loading<Batch>;
    let isAborted = false;
    const abandon = () => {
      isAborted = true;
      this.#ahead.unshift(loading);
    };
    try {
      return await unlessAborted(this.signal, loading.result, abandon);
    } finally {
      if (!isAborted) loading.deferred.deliver();
    }
  }

  /** Ends the pass. If it has already failed, errors while closing are ignored. */
  async close(hasFailed: boolean): Promise<void> {
    const left = this.#ahead.map((loading) => this.#abandon(loading));
    const closing = this.source.close();
    const closed = hasFailed ? closing.catch(() => {}) : closing;
    if (this.signal?.aborted) {
      closed.catch(() => {});
      return;
    }
    // A batch that is still being loaded may never arrive, so the waiting time is limited.
    await (left.length === 0 ? closed : inTime(Promise.all([closed, ...left])));
  }

  #begin(): Loading<Batch> {
    const deferred = new DeferredScope();
    const fill = <T>(code: () => T): T => deferred.fill(code);
    const result = deferred.fill(() => this.source.next(fill));
    // The promise is awaited later or never, so its rejection must not be reported as unhandled.
    result.catch(() => {});
    return { deferred, result };
  }

  async #abandon({ deferred, result }: Loading<Batch>): Promise<void> {
    const { value } = await result.catch(() => ({ value: undefined }));
    if (this.areOwn) disposeAll(value);
    deferred.deliver();
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, kCloseTimeout);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
