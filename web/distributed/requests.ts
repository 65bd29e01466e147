// The messages between the program's thread and the worker that uses the network.

import type { ErrorCode } from "edgegrad";
import type { ConnectionChoice } from "../nats/connection.js";

/** The reductions over ranks. */
export type Reduction = "sum" | "mean" | "max" | "min" | "product";

/** The dtypes that are sent; others are converted to one of them. */
export type WireDType = "float32" | "float64" | "int32" | "int64" | "uint8";

/** The collective operations. */
export type CollectiveKind = "allReduce" | "reduceScatter" | "allGather" | "broadcast";

/** The worker's options. */
export interface WorkerOptions {
  readonly connection: ConnectionChoice;
  readonly run: string;
  readonly worldSize: number;
  readonly minWorldSize: number;
  readonly lastCall: number;
  readonly rank: number | null;
  readonly timeout: number;
  readonly joinTimeout: number;
  readonly lostAfter: number;
  /** Counters that the worker writes, in the order of kCounters. */
  readonly counters: SharedArrayBuffer;
}

/** The counters, which are float64. */
export const kCounters = ["bytesSent", "bytesReceived", "messagesSent"] as const;

/** A collective operation on memory that both threads share. */
export interface CollectiveRequest {
  readonly type: "collective";
  readonly id: number;
  /** The name of the function that the user called, for messages. */
  readonly where: string;
  /** The sequence number of the operation in its generation, which is the same on all ranks. */
  readonly sequence: number;
  readonly kind: CollectiveKind;
  readonly dtype: WireDType;
  readonly reduction: Reduction;
  readonly root: number;
  /** The elements; for allGather, those of all ranks, concatenated. */
  readonly data: SharedArrayBuffer;
  /** See Outcome. */
  readonly outcome: SharedArrayBuffer;
  /** Whether the program's thread also hears by a message that the operation is done, because it does not block. */
  readonly isAwaited: boolean;
}

/** A request to the worker. */
export type Request =
  | CollectiveRequest
  | { readonly type: "join"; readonly id: number; readonly where: string }
  | { readonly type: "leave"; readonly id: number }
  | { readonly type: "abort"; readonly reason: string };

/** An error that is passed between threads. */
export interface Failure {
  readonly code: ErrorCode;
  /** The message without the name of the caller. */
  readonly text: string;
}

/** A process's place in a group. */
export interface Place {
  readonly rank: number;
  readonly worldSize: number;
  readonly generation: number;
  readonly source: number;
}

/** A message from the worker. */
export type Reply =
  | { readonly type: "done"; readonly id: number; readonly place?: Place }
  | { readonly type: "failed"; readonly id: number; readonly failure: Failure }
  /** The group cannot be used until rejoin(). */
  | { readonly type: "lost"; readonly failure: Failure };

const kHeadBytes = 8;
const kMostText = 2000;
const kPending = 0;
const kDone = 1;
const kFailed = 2;

/** The outcome of an operation, in memory on which the program's thread can wait. */
export class Outcome {
  readonly #head: Int32Array;
  readonly #text: Uint8Array;

  constructor(readonly memory = new SharedArrayBuffer(kHeadBytes + kMostText)) {
    this.#head = new Int32Array(memory, 0, 2);
    this.#text = new Uint8Array(memory, kHeadBytes);
  }

  /** Ends the operation and wakes the waiting thread. */
  settle(failure: Failure | null): void {
    if (failure !== null) {
      const bytes = new TextEncoder().encode(JSON.stringify(shorten(failure)));
      this.#text.set(bytes);
      Atomics.store(this.#head, 1, bytes.length);
    }
    Atomics.store(this.#head, 0, failure === null ? kDone : kFailed);
    Atomics.notify(this.#head, 0);
  }

  /** Blocks the thread until the operation has ended; returns "late" if it has not ended after `ms` milliseconds. */
  wait(ms: number): Failure | null | "late" {
    Atomics.wait(this.#head, 0, kPending, ms);
    const state = Atomics.load(this.#head, 0);
    if (state === kPending) return "late";
    if (state === kDone) return null;
    const bytes = this.#text.slice(0, Atomics.load(this.#head, 1));
    return JSON.parse(new TextDecoder().decode(bytes)) as Failure;
  }
}

// Limits the size in memory: JSON takes at most six bytes per character.
const shorten = ({ code, text }: Failure) => ({ code, text: text.slice(0, 300) });
