// Spans that training hides, as SpecAugment does: of moments, or of features.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";

/** Which spans are hidden. */
export interface SpanSettings {
  /** The share of positions that are the beginning of a span, times the length of spans. */
  readonly share: number;
  /** The positions of a span. */
  readonly length: number;
  /** The fewest spans. */
  readonly least: number;
}

/** Reads the settings for "time" or "feature". */
export function spanSettings(
  config: Config,
  what: "time" | "feature",
  share: number,
  least: number,
): SpanSettings {
  const at = (part: string) => `mask_${what}_${part}`;
  return {
    share: config.share(at("prob"), share),
    length: config.size(at("length"), 10),
    least: config.whole(at("min_masks"), least),
  };
}

/**
 * Draws spans and returns which positions are in one: [rows, size]. Spans may overlap, and begin where they end within the first `lengths` positions of
 * their row. Throws InvalidArgument if a row is shorter than a span.
 */
export function drawSpans(
  where: string,
  size: number,
  lengths: readonly number[],
  { share, length, least }: SpanSettings,
): eg.Tensor {
  if (length > size) {
    const message = `training hides spans of ${length} positions, and there are ${size}`;
    const advice = "Pass longer recordings, or set mask_time_prob to 0 in config.json";
    fail("InvalidArgument", where, `${message}. ${advice}.`);
  }
  const hidden = new Uint8Array(lengths.length * size);
  // One number for all rows: it rounds up or down with the right chance.
  const chance = eg.scope(() => eg.rand([]).item());
  lengths.forEach((own, row) => {
    const places = own - (length - 1);
    const wanted = Math.max(Math.floor((share * own) / length + chance), least);
    const most = Math.floor(size / length);
    const count = Math.max(0, Math.min(wanted * length > size ? most : wanted, places));
    const starts = eg.scope(() => eg.randperm(Math.max(places, 0)).arraySync()) as number[];
    for (const start of starts.slice(0, count)) {
      hidden.fill(1, row * size + start, row * size + start + length);
    }
  });
  return eg.tensor(hidden, { shape: [lengths.length, size], dtype: "bool" });
}
