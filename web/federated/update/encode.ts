// Writes an update at a client: a safetensors file, split into messages.

import * as eg from "edgegrad";
import { digestOf } from "../digest.js";
import { compress, expand, type ReadCompression } from "./compression.js";
import { differenceOf, isFloating, mapState, type State, specOf } from "./state.js";

/** The metadata of an update. */
export interface UpdateLabel {
  readonly run: string;
  readonly round: number;
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

// NATS counts the headers as part of the payload.
const kHeaderSpace = 1024;
const kMostPartBytes = 512 * 1024;

/** Splits a file into messages that fit `maxPayload`, with headers. */
export async function partsOf(
  bytes: Uint8Array,
  label: Pick<UpdateLabel, "run" | "round" | "client">,
  maxPayload: number,
  more: Readonly<Record<string, string>> = {},
): Promise<Part[]> {
  const size = Math.min(kMostPartBytes, maxPayload - kHeaderSpace);
  const count = Math.ceil(bytes.length / size);
  const digest = await digestOf(bytes);
  const { run, round, client } = label;
  return Array.from({ length: count }, (_, i) => ({
    data: bytes.subarray(i * size, (i + 1) * size),
    headers: {
      ...more,
      [kRoundHeader]: `${round}`,
      [kPartHeader]: `${i}/${count}`,
      [kDigestHeader]: digest,
    },
    id: `${run}/${round}/${client}/${digest.slice(0, 16)}/${i}`,
  }));
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
  encode(trained: Readonly<State>, before: Readonly<State>, label: UpdateLabel): Uint8Array {
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
    for (const [key, tensor] of Object.entries(residual)) {
      this.#residual.get(key)?.dispose();
      this.#residual.set(key, tensor);
    }
    return bytes;
  }
}

function writeUpdate(tensors: Readonly<State>, label: UpdateLabel): Uint8Array {
  const { run, round, client, samples, metrics } = label;
  const metadata = {
    run,
    round: `${round}`,
    client,
    samples: `${samples}`,
    metrics: JSON.stringify(metrics),
  };
  return eg.io.saveSafetensors(tensors, { metadata });
}
