// Rotary position embeddings, and the methods to extend them to more positions than a model was trained with.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";
import type { Pass } from "./pass.js";

/** The rotation of each pair of features. */
export interface RotarySpec {
  /** Returns the angle per position of each pair, for a pass over that many positions. */
  frequencies(positions: number): readonly number[];
  /** The factor of the rotated values. */
  readonly scale: number;
  /** Above this number of positions a sequence is rotated by other angles, so that keys cached before do not fit; null: no limit. */
  readonly limit: number | null;
}

/** What a family knows about its rotary embeddings in addition to the keys of config.json. */
export interface RotaryOptions {
  /** The number of features that are rotated. */
  readonly size: number;
  readonly base: number;
  /** The part of the config with the scaling; null for none. */
  readonly scaling: Config | null;
  /** The number of positions that the model was trained with. */
  readonly trained: number;
  /** The number of positions before the model was extended, if config.json has it outside of the scaling; default: `trained`. */
  readonly original?: number | null;
}

/** Returns the part of a config with the scaling: `rope_scaling`, or in newer files `rope_parameters`, which may have one part for each type of layers. */
export function scalingOf(config: Config, layerType = "full_attention"): Config | null {
  if (!config.has("rope_parameters")) {
    return config.has("rope_scaling") ? config.part("rope_scaling") : null;
  }
  const part = config.part("rope_parameters");
  return isByLayerType(config) ? part.part(layerType) : part;
}

/** Whether each type of layers has its own rotary embeddings. */
export function isByLayerType(config: Config): boolean {
  const { full_attention, sliding_attention } = Object(config.raw("rope_parameters"));
  return typeof (full_attention ?? sliding_attention) === "object";
}

/** Returns the base of the angles, which newer files store in `rope_parameters`. */
export function baseOf(config: Config, scaling: Config | null, fallback = 10000): number {
  const own = config.number("rope_theta", fallback);
  return scaling === null ? own : scaling.number("rope_theta", own);
}

/** Returns the fraction of features that are rotated, which newer files store in `rope_parameters`. */
export function shareOf(config: Config, scaling: Config | null, fallback: number): number {
  const own = config.number("partial_rotary_factor", fallback);
  return scaling === null ? own : scaling.number("partial_rotary_factor", own);
}

type Scaling = (options: RotaryOptions, scaling: Config) => RotarySpec;

const kScalings: Readonly<Record<string, Scaling>> = {
  default: (options) => plain(options),
  linear: (options, scaling) => {
    const factor = scaling.number("factor");
    const { frequencies } = plain(options);
    return {
      frequencies: (n) => frequencies(n).map((frequency) => frequency / factor),
      scale: 1,
      limit: null,
    };
  },
  dynamic: dynamicSpec,
  llama3: llama3Spec,
  longrope: longropeSpec,
  // The first files of Phi-3 call it that.
  su: longropeSpec,
  yarn: yarnSpec,
};

/** Returns the rotary embeddings that a config describes. */
export function rotarySpec(options: RotaryOptions): RotarySpec {
  const { scaling } = options;
  if (scaling === null) return plain(options);
  const key = scaling.has("rope_type") ? "rope_type" : "type";
  const type = scaling.choice(key, Object.keys(kScalings), "default");
  // Older files have both keys.
  scaling.raw("type");
  return (kScalings[type] as Scaling)(options, scaling);
}

function plain({ size, base }: RotaryOptions): RotarySpec {
  const made = frequenciesOf(size, base);
  return { frequencies: () => made, scale: 1, limit: null };
}

function frequenciesOf(size: number, base: number): number[] {
  return Array.from({ length: size / 2 }, (_, i) => 1 / base ** ((2 * i) / size));
}

// The base grows with the number of positions beyond the trained ones.
function dynamicSpec({ size, base, trained }: RotaryOptions, scaling: Config): RotarySpec {
  const factor = scaling.number("factor");
  const limit = scaling.size("original_max_position_embeddings", trained);
  const frequencies = (positions: number) => {
    const growth = (factor * Math.max(positions, limit)) / limit - (factor - 1);
    return frequenciesOf(size, base * growth ** (size / (size - 2)));
  };
  return { frequencies, scale: 1, limit: null };
}

// Low frequencies are divided by the factor, high ones are kept, and those between are interpolated.
function llama3Spec({ size, base }: RotaryOptions, scaling: Config): RotarySpec {
  const factor = scaling.number("factor");
  const low = scaling.number("low_freq_factor");
  const high = scaling.number("high_freq_factor");
  const trained = scaling.size("original_max_position_embeddings");
  const made = frequenciesOf(size, base).map((frequency) => {
    const turns = (trained * frequency) / (2 * Math.PI);
    if (turns < low) return frequency / factor;
    if (turns > high) return frequency;
    const share = (turns - low) / (high - low);
    return ((1 - share) * frequency) / factor + share * frequency;
  });
  return { frequencies: () => made, scale: 1, limit: null };
}

// Like llama3, but with a linear ramp over the features between two numbers of rotations, and a factor for the values.
function yarnSpec(options: RotaryOptions, scaling: Config): RotarySpec {
  const { size, base } = options;
  const factor = scaling.number("factor");
  const trained = scaling.size("original_max_position_embeddings", options.trained);
  const place = (turns: number) =>
    (size * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const whole = scaling.flag("truncate", true);
  const ends = [scaling.number("beta_fast", 32), scaling.number("beta_slow", 1)].map(place);
  const [first, last] = ends as [number, number];
  const low = Math.max(whole ? Math.floor(first) : first, 0);
  const high = Math.min(whole ? Math.ceil(last) : last, size - 1);
  const width = high === low ? 0.001 : high - low;
  const made = frequenciesOf(size, base).map((frequency, i) => {
    const slow = Math.min(Math.max((i - low) / width, 0), 1);
    return slow * (frequency / factor) + (1 - slow) * frequency;
  });
  return { frequencies: () => made, scale: yarnScale(factor, scaling), limit: null };
}

function yarnScale(factor: number, scaling: Config): number {
  const given = scaling.numberOrNull("attention_factor");
  const mscale = scaling.numberOrNull("mscale");
  const all = scaling.numberOrNull("mscale_all_dim");
  const grown = (by: number) => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1);
  return given ?? (mscale && all ? grown(mscale) / grown(all) : grown(1));
}

// Each pair of features has its own factors: one for short sequences, another for long ones.
function longropeSpec(
  { size, base, trained, original }: RotaryOptions,
  scaling: Config,
): RotarySpec {
  const limit = scaling.size("original_max_position_embeddings", original ?? trained);
  const ownFactor = scaling.numberOrNull("factor");
  const factor = original == null && ownFactor !== null ? ownFactor : trained / limit;
  const grown = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(limit));
  const made = frequenciesOf(size, base);
  const divided = (key: string) => {
    const factors = scaling.positives(key, size / 2);
    return made.map((frequency, i) => frequency / (factors[i] as number));
  };
  const [short, long] = [divided("short_factor"), divided("long_factor")];
  return {
    frequencies: (positions) => (positions > limit ? long : short),
    scale: scaling.numberOrNull("attention_factor") ?? grown,
    limit,
  };
}

/** Returns the function that rotates queries and keys [batch, heads, tokens, size] by their positions. */
export function rotaryOf(spec: RotarySpec, pass: Pass): (x: eg.Tensor) => eg.Tensor {
  return pass.shared(spec, () => {
    checkCache(spec, pass);
    const [cos, sin] = turnsOf(spec, pass);
    const size = cos.shape.at(-1) as number;
    return (x: eg.Tensor) => {
      const width = x.shape.at(-1) as number;
      const turning = width > size ? x.narrow(-1, 0, size) : x;
      // roll() swaps the halves: each is combined with the other.
      const turned = turning.mul(cos).addcmul(turning.roll(size / 2, -1), sin);
      return width > size ? eg.cat([turned, x.narrow(-1, size, width - size)], -1) : turned;
    };
  });
}

function checkCache({ limit }: RotarySpec, { past, keys, positions }: Pass): void {
  if (limit === null || past === 0 || positions <= limit || positions - (keys - past) > limit) {
    return;
  }
  fail(
    "InvalidArgument",
    "pastKeyValues",
    `cached keys cannot be used beyond ${limit} tokens, where this model rotates positions by other angles; the text has ${positions} now. ` +
      "Pass all of its tokens, without the cache or with a new one.",
  );
}

// The cosines and sines: the factors of the features themselves and of those in the other half.
function turnsOf(spec: RotarySpec, pass: Pass): [cos: eg.Tensor, sin: eg.Tensor] {
  return eg.noGrad(() => {
    const ids = pass.positionIds;
    const frequencies = eg.tensor([...spec.frequencies(pass.positions)], { device: ids.device });
    // [batch, 1, tokens, size / 2]; the returned factors have twice as many
    const angles = ids
      .to("float32")
      .reshape([ids.shape[0] as number, 1, -1, 1])
      .mul(frequencies);
    const { dtype } = pass;
    const [cos, sin] = [angles.cos().mul(spec.scale), angles.sin().mul(spec.scale)];
    return [eg.cat([cos, cos], -1).to(dtype), eg.cat([sin.neg(), sin], -1).to(dtype)];
  });
}
