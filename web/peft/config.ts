// LoraConfig, and adapter_config.json, which has the same settings under other spellings.

import { describe, fail } from "../errors/errors.js";

/** Which biases are trained with an adapter. */
export type BiasKind = "none" | "all" | "lora_only";

/** How new adapters are initialized: PEFT's default (true), from a normal distribution, or both factors at random (false). */
export type InitLoraWeights = boolean | "gaussian";

/** Options of `LoraConfig`. */
export interface LoraOptions {
  /** The rank of the matrices; default 8. */
  readonly r?: number | undefined;
  /** The adapter's contribution is multiplied by loraAlpha / r; default 8. */
  readonly loraAlpha?: number | undefined;
  /** The dropout probability of the adapter's inputs; default 0. */
  readonly loraDropout?: number | undefined;
  /**
   * The layers to adapt: suffixes of their names, a string with a regular expression for whole names, or "all-linear".
   */
  readonly targetModules?: readonly string[] | string | null | undefined;
  /** The layers that are not adapted, as in `targetModules`. */
  readonly excludeModules?: readonly string[] | string | null | undefined;
  /** Modules that are fully trained and saved with the adapter, such as a new head. */
  readonly modulesToSave?: readonly string[] | null | undefined;
  /** Which biases are trained too; default "none". */
  readonly bias?: BiasKind | undefined;
  /** Multiply by loraAlpha / sqrt(r) instead of loraAlpha / r; default false. */
  readonly useRslora?: boolean | undefined;
  /** Train the norm of each weight row separately from its direction; default false. */
  readonly useDora?: boolean | undefined;
  /** How new matrices are initialized; default true. */
  readonly initLoraWeights?: InitLoraWeights | undefined;
  /** Ranks of particular layers, by suffixes of their names. */
  readonly rankPattern?: Readonly<Record<string, number>> | undefined;
  /** Alphas of particular layers, by suffixes of their names. */
  readonly alphaPattern?: Readonly<Record<string, number>> | undefined;
  /** The indices of the blocks whose layers are adapted; default: all. */
  readonly layersToTransform?: readonly number[] | number | null | undefined;
  /** The name of the list that holds those blocks; default: any. */
  readonly layersPattern?: readonly string[] | string | null | undefined;
  /** The task of the model: "CAUSAL_LM", "SEQ_CLS", or null. */
  readonly taskType?: string | null | undefined;
}

type Check = readonly [expected: string, accepts: (value: unknown) => boolean];

const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
const isIndex = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumbersBy = (accepts: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === "object" && value !== null && Object.values(value).every(accepts);
const isPositive = (value: unknown) => Number.isFinite(value) && (value as number) > 0;

const kFlag: Check = ["true or false", (value) => typeof value === "boolean"];
const kTexts: Check = [
  "a list of names, a text or null",
  (value) => value === null || typeof value === "string" || isTexts(value),
];

// For each option: its spelling in adapter_config.json, its default, and the check of its value.
const kFields: Readonly<
  Record<keyof LoraOptions, readonly [key: string, fallback: unknown, check: Check]>
> = {
  r: ["r", 8, ["a whole number from 1", isCount]],
  loraAlpha: ["lora_alpha", 8, ["a number above 0", isPositive]],
  loraDropout: [
    "lora_dropout",
    0,
    ["a number from 0 to 1", (value) => Number(value) >= 0 && Number(value) <= 1],
  ],
  targetModules: ["target_modules", null, kTexts],
  excludeModules: ["exclude_modules", null, kTexts],
  modulesToSave: [
    "modules_to_save",
    null,
    ["a list of names or null", (value) => value === null || isTexts(value)],
  ],
  bias: [
    "bias",
    "none",
    ['"none", "all" or "lora_only"', (value) => ["none", "all", "lora_only"].includes(`${value}`)],
  ],
  useRslora: ["use_rslora", false, kFlag],
  useDora: ["use_dora", false, kFlag],
  initLoraWeights: [
    "init_lora_weights",
    true,
    ['true, false or "gaussian"', (value) => typeof value === "boolean" || value === "gaussian"],
  ],
  rankPattern: ["rank_pattern", {}, ["whole numbers by name", isNumbersBy(isCount)]],
  alphaPattern: ["alpha_pattern", {}, ["numbers by name", isNumbersBy(isPositive)]],
  layersToTransform: [
    "layers_to_transform",
    null,
    [
      "a list of numbers, a number or null",
      (value) => value === null || (Array.isArray(value) ? value.every(isIndex) : isIndex(value)),
    ],
  ],
  layersPattern: ["layers_pattern", null, kTexts],
  taskType: [
    "task_type",
    null,
    ["a text or null", (value) => value === null || typeof value === "string"],
  ],
};

const kNames = Object.keys(kFields) as (keyof LoraOptions)[];

// Keys of adapter_config.json that do not affect the result, or that are replaced when it is written.
const kWithoutEffect = new Set([
  "auto_mapping",
  "base_model_name_or_path",
  "fan_in_fan_out",
  "inference_mode",
  "megatron_core",
  "peft_type",
  "peft_version",
  "qalora_group_size",
  "revision",
  "runtime_config",
]);

type Complete = { readonly [Name in keyof LoraOptions]-?: Exclude<LoraOptions[Name], undefined> };

/** The configuration of low-rank adapters. */
export class LoraConfig implements Complete {
  declare readonly r: number;
  declare readonly loraAlpha: number;
  declare readonly loraDropout: number;
  declare readonly targetModules: readonly string[] | string | null;
  declare readonly excludeModules: readonly string[] | string | null;
  declare readonly modulesToSave: readonly string[] | null;
  declare readonly bias: BiasKind;
  declare readonly useRslora: boolean;
  declare readonly useDora: boolean;
  declare readonly initLoraWeights: InitLoraWeights;
  declare readonly rankPattern: Readonly<Record<string, number>>;
  declare readonly alphaPattern: Readonly<Record<string, number>>;
  declare readonly layersToTransform: readonly number[] | number | null;
  declare readonly layersPattern: readonly string[] | string | null;
  declare readonly taskType: string | null;

  /** Throws InvalidArgument for an unknown option or an invalid value. */
  constructor(options: LoraOptions = {}) {
    if (typeof options !== "object" || options === null) {
      fail(
        "InvalidArgument",
        "LoraConfig",
        `expected an object of options, got ${describe(options)}.`,
      );
    }
    const unknown = Object.keys(options).find((name) => !Object.hasOwn(kFields, name));
    if (unknown !== undefined) {
      const names = kNames.join(", ");
      fail(
        "InvalidArgument",
        "LoraConfig",
        `unknown option "${unknown}"; the options are ${names}.`,
      );
    }
    for (const name of kNames) {
      const [, fallback, [expected, accepts]] = kFields[name];
      const value = options[name] ?? fallback;
      if (!accepts(value)) {
        fail(
          "InvalidArgument",
          "LoraConfig",
          `${name}: expected ${expected}, got ${describe(value)}.`,
        );
      }
      Object.assign(this, { [name]: value });
    }
  }

  /** Returns the factor of the adapter's contribution, for a rank and an alpha. */
  scaling(r: number, alpha: number): number {
    return alpha / (this.useRslora ? Math.sqrt(r) : r);
  }

  /** Returns the values of adapter_config.json. */
  toValues(): Record<string, unknown> {
    const own = kNames.map((name) => [kFields[name][0], this[name]] as const);
    return { peft_type: "LORA", ...Object.fromEntries(own) };
  }

  /** Reads the values of adapter_config.json; throws InvalidArgument for an unimplemented key that would change results. */
  static fromValues(values: Readonly<Record<string, unknown>>): LoraConfig {
    const where = "adapter_config.json";
    if (values.peft_type !== "LORA") {
      const got = describe(values.peft_type);
      fail(
        "InvalidArgument",
        where,
        `peft_type is ${got}, which is not implemented; it may be "LORA".`,
      );
    }
    const byKey = new Map(kNames.map((name) => [kFields[name][0], name]));
    const left = Object.entries(values).filter(
      ([key, value]) => !byKey.has(key) && !kWithoutEffect.has(key) && !isOff(value),
    );
    if (left.length > 0) {
      const names = left.map(([key, value]) => `${key} (${describe(value)})`).join(", ");
      fail("InvalidArgument", where, `these keys are not implemented: ${names}.`);
    }
    const given = [...byKey].map(([key, name]) => [name, values[key]] as const);
    return new LoraConfig(Object.fromEntries(given.filter(([, value]) => value !== undefined)));
  }
}

// Unused options are written as null, false or empty.
function isOff(value: unknown): boolean {
  if (value === null || value === false) return true;
  return typeof value === "object" && Object.keys(value as object).length === 0;
}
