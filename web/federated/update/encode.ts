// Writes an update at a client: a safetensors file, split into messages.

import * as eg from "edgegrad";
import { kSessionHeader, kSignatureHeader } from "../asks.js";
import { kPhaseHeader } from "../secure/phases.js";
import { compress, expand, type ReadCompression } from "./compression.js";
import { differenceOf, free, isFloating, mapState, type State, specOf } from "./state.js";

/** The metadata of an update. */
export interface UpdateLabel {
  readonly run: string;
  readonly round: number;
  /** The name of the revision that the client has trained. */
  readonly revision: string;
  readonly client: string;
  readonly samples: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** One message of an update. */
export interface Part {
  readonly data: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** The message ID, by which the server stores the part only once. */
  readonly id: string;
}

/** The headers of a part. */
export const kRoundHeader = "EdgeGrad-Round";
export const kPartHeader = "EdgeGrad-Part";
export const kDigestHeader = "EdgeGrad-Digest";
/** The header that numbers the files that a client sends in a round: one that is refused may be followed by the same once more. */
export const kTryHeader = "EdgeGrad-Try";
/** The header by which a client tells a repetition from another message. */
export const kIdHeader = "EdgeGrad-Id";
/** The headers that are stored with a part. */
export const kStoredHeaders = [
  kRoundHeader,
  kPartHeader,
  kDigestHeader,
  kTryHeader,
  kPhaseHeader,
  kSessionHeader,
  kSignatureHeader,
];

// NATS counts the headers as part of the payload.
const kHeaderSpace = 1024;
const kMostPartBytes = 512 * 1024;

/** A file that a client sends: in another attempt at the round, or at the next try, the same bytes are another file. */
export interface FileName {
  readonly round: number;
  /** The attempt at the round, from the record. */
  readonly attempt: number;
  /** The number of the file among those that the client has sent in the attempt, from 1. */
  readonly tries: number;
  readonly digest: string;
}

/** Splits a file into messages that fit `maxPayload`, with headers. */
export function splitIntoParts(
  bytes: Uint8Array,
  { round, attempt, tries, digest }: FileName,
  maxPayload: number,
  more: Readonly<Record<string, string>> = {},
): Part[] {
  const size = Math.min(kMostPartBytes, maxPayload - kHeaderSpace);
  const count = Math.max(1, Math.ceil(bytes.length / size));
  return Array.from({ length: count }, (_, i) => ({
    data: bytes.subarray(i * size, (i + 1) * size),
    headers: {
      ...more,
      [kRoundHeader]: `${round}`,
      [kPartHeader]: `${i}/${count}`,
      [kDigestHeader]: digest,
      [kTryHeader]: `${tries}`,
    },
    id: `${round}/${attempt}/${tries}/${digest.slice(0, 16)}/${i}`,
  }));
}

/** Returns what identifies a file of a client within a round, by the headers of its parts; "" without a digest. */
export function fileOf(header: (name: string) => string): string {
  const digest = header(kDigestHeader);
  return digest === "" ? "" : `${digest} ${header(kTryHeader)}`;
}

/** Whether the headers are those of the last part of a file. */
export function isLastPart(header: (name: string) => string): boolean {
  const [part, count] = header(kPartHeader).split("/").map(Number);
  return part === Number(count) - 1;
}

/** Encodes trained weights as an update. */
export function encodeWeights(trained: Readonly<State>, label: UpdateLabel): Uint8Array {
  return eg.scope(() =>
    writeUpdate(
      mapState(trained, (tensor) => tensor.detach().contiguous()),
      label,
    ),
  );
}

/** Compresses what training has changed, and adds the error to the next update. */
export class Compressor {
  readonly #residual = new Map<string, eg.Tensor>();

  constructor(readonly compression: ReadCompression) {}

  /** Encodes the difference of two states, plus the error of earlier updates. */
  encode(trained: Readonly<State>, before: Readonly<State>, label: UpdateLabel): Compressed {
    const { bytes, residual } = eg.scope(() => {
      const change = eg.noGrad(() => differenceOf(trained, before));
      const wanted = mapState(change, (tensor, key) => {
        if (!isFloating(tensor.dtype)) return tensor;
        const rest = this.#residual.get(key);
        return rest === undefined ? tensor.to("float32") : tensor.to("float32").add(rest);
      });
      const sent = compress(wanted, this.compression);
      const received = expand(sent, specOf(before)) as State;
      const floating = Object.entries(wanted).filter(([, { dtype }]) => isFloating(dtype));
      const left = floating.map(([key, tensor]) => [key, tensor.sub(received[key] as eg.Tensor)]);
      return { bytes: writeUpdate(sent, label), residual: Object.fromEntries(left) as State };
    });
    return {
      bytes,
      counted: () => {
        for (const [key, tensor] of Object.entries(residual)) {
          this.#residual.get(key)?.dispose();
          this.#residual.set(key, tensor);
        }
      },
      dropped: () => free(residual),
    };
  }
}

/** A compressed update. Of `counted` and `dropped`, one must be called. */
export interface Compressed {
  readonly bytes: Uint8Array;
  /** Adds the error to the next update. */
  counted(): void;
  /** Forgets the error: an update that was refused, such as one with NaN, must not spoil the next. */
  dropped(): void;
}

function writeUpdate(tensors: Readonly<State>, label: UpdateLabel): Uint8Array {
  const { run, round, revision, client, samples, metrics } = label;
  const metadata = {
    run,
    round: `${round}`,
    revision,
    client,
    samples: `${samples}`,
    metrics: JSON.stringify(metrics),
  };
  return eg.io.saveSafetensors(tensors, { metadata });
}
