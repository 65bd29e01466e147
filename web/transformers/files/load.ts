// Loads a model with weights from a folder of files.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Bits } from "../blocks/code_format.js";
import type { FormatOf, Quantized } from "../blocks/quantized.js";
import { Config, type ConfigValues, parseObject } from "../config/config.js";
import type { Family, Task } from "../families/family.js";
import { familyOf } from "../families/index.js";
import type { PreTrainedModel } from "../model.js";
import { checkOptions, kCount, kFlag, kFunction, kText, oneOf } from "../options.js";
import { isConstant, isFrequencies } from "./constants.js";
import { ggufIn, type ModelSource } from "./model_source.js";
import { nameInModel, type Omitted, tiedTo } from "./names.js";
import { PartProgress, readQuantized } from "./read_quantized.js";
import type { CodedFile, WeightFile } from "./weight_file.js";

const kWhere = "fromPretrained";

/** Options of `fromPretrained`. */
export interface FromPretrainedOptions {
  /** The device of the parameters; default "cpu". */
  readonly device?: eg.Device | undefined;
  /** The dtype of the parameters; "auto", the default, is that of the file. */
  readonly dtype?: eg.DType | "auto" | undefined;
  /**
   * Store the weights of layers in eight or four bits, except those of heads; an embedding table that is tied to the head always has eight bits.
   * Quantized weights cannot be trained, but adapters on them can.
   */
  readonly quantization?: "int8" | "int4" | undefined;
  /** Read the weights that a file has in few bits as floats, so that they can be trained, merged with adapters and saved; default false. */
  readonly dequantize?: boolean | undefined;
  /** The name of the GGUF file in the folder to read, instead of config.json and model.safetensors. */
  readonly ggufFile?: string | undefined;
  /** The number of classes of a new head; default: what config.json says. */
  readonly numLabels?: number | undefined;
  /** Begin a new head, which has to be trained, in the place of one of the file that has other sizes; default false. */
  readonly ignoreMismatchedSizes?: boolean | undefined;
  /** Keys of config.json to ignore although they are not implemented. */
  readonly ignoreConfigKeys?: readonly string[] | undefined;
  /** Recompute the activations of each block in backward instead of keeping them; default false. */
  readonly gradientCheckpointing?: boolean | undefined;
  /** Called for each piece of a tensor that arrives. */
  readonly onProgress?: ((progress: eg.io.ReadProgress) => void) | undefined;
  /** Sends the requests for an address; default: the global fetch. */
  readonly fetch?: eg.io.FetchLike | undefined;
}

const kBits: Readonly<Record<string, Bits>> = { int8: 8, int4: 4 };

const kOptions = {
  device: kText,
  dtype: kText,
  quantization: oneOf(...Object.keys(kBits)),
  dequantize: kFlag,
  ggufFile: kText,
  numLabels: kCount,
  ignoreMismatchedSizes: kFlag,
  ignoreConfigKeys: {
    expected: "a list of names",
    accepts: (value: unknown) =>
      Array.isArray(value) && value.every((item) => typeof item === "string"),
  },
  gradientCheckpointing: kFlag,
  onProgress: kFunction,
  fetch: kFunction,
};

/** What a model is made from: the values of its files, and its weights. */
interface ModelFiles {
  readonly config: ConfigValues;
  readonly generationConfig: ConfigValues;
  weights(): Promise<WeightFile>;
  close?(): Promise<void>;
}

/** Reads the model of a folder, or of a GGUF file, for a task. */
export async function loadModel(
  task: Task,
  source: ModelSource,
  options: FromPretrainedOptions = {},
): Promise<PreTrainedModel> {
  checkOptions(kWhere, options, kOptions);
  const progress = new PartProgress(options.onProgress);
  const files = await filesOf(source, options, progress);
  try {
    const values = withLabels(files.config, options);
    const config = new Config(values);
    const family = await familyOf(config);
    const model = modelOf(family, task, config, options);
    model.config = values;
    model.generationConfig = files.generationConfig;
    const reader = await files.weights();
    try {
      await loadWeights(model, family, reader, options, progress);
    } finally {
      await reader.close();
    }
    return model.eval();
  } finally {
    await files.close?.();
  }
}

async function filesOf(
  source: ModelSource,
  options: FromPretrainedOptions,
  progress: PartProgress,
): Promise<ModelFiles> {
  const file = await ggufIn(kWhere, source, options);
  if (file !== null) {
    const close = () => file.close();
    try {
      const { openModel } = await import("./gguf/index.js");
      const { config, generationConfig, weights } = await openModel(file, progress);
      return { config, generationConfig, weights: async () => weights, close };
    } catch (error) {
      await close();
      throw error;
    }
  }
  const { fetch } = options;
  const folder = await eg.io.openFolder(source as eg.io.FolderSource, {
    onProgress: (event) => progress.report(event),
    ...(fetch && { fetch }),
  });
  const config = await objectIn(folder, "config.json");
  if (config === null) fail("InvalidArgument", kWhere, "there is no config.json in the folder.");
  const generationConfig = (await objectIn(folder, "generation_config.json")) ?? {};
  const { quantization_config: packing, ...others } = config;
  if (packing === undefined || packing === null) {
    return { config, generationConfig, weights: () => weightsIn(folder) };
  }
  const { packedFile } = await import("./packed/index.js");
  const weights = async () => packedFile(await weightsIn(folder), packing);
  return { config: others, generationConfig, weights };
}

// A new head has the number of classes that a program asks for.
function withLabels(values: ConfigValues, { numLabels }: FromPretrainedOptions): ConfigValues {
  if (numLabels === undefined) return values;
  const names = Array.from({ length: numLabels }, (_, i) => [String(i), `LABEL_${i}`] as const);
  const given = values.id2label;
  const isSame = typeof given === "object" && Object.keys(given ?? {}).length === numLabels;
  if (isSame) return values;
  const { num_labels: _, ...others } = values;
  return {
    ...others,
    id2label: Object.fromEntries(names),
    label2id: Object.fromEntries(names.map(([i, name]) => [name, Number(i)])),
  };
}

async function objectIn(folder: eg.io.Folder, name: string): Promise<ConfigValues | null> {
  const bytes = await folder.bytes(name);
  return bytes && parseObject(kWhere, name, bytes);
}

function modelOf(
  family: Family,
  task: Task,
  config: Config,
  { ignoreConfigKeys, gradientCheckpointing = false }: FromPretrainedOptions,
): PreTrainedModel {
  const make = family.tasks[task];
  if (make === undefined) {
    const tasks = Object.keys(family.tasks).join(", ");
    fail(
      "InvalidArgument",
      kWhere,
      `models of the type "${config.modelType}" are not for the task "${task}"; they are for ${tasks}.`,
    );
  }
  const model = make(config);
  config.finish(config.modelType, ignoreConfigKeys);
  for (const part of model.modules()) {
    if ("gradientCheckpointing" in part) part.gradientCheckpointing = gradientCheckpointing;
  }
  return model;
}

async function weightsIn(folder: eg.io.Folder): Promise<WeightFile> {
  for (const name of ["model.safetensors", "model.safetensors.index.json"]) {
    const reader = await folder.openSafetensors(name);
    if (reader !== null) return reader;
  }
  return fail(
    "InvalidArgument",
    kWhere,
    "there is neither a model.safetensors nor a model.safetensors.index.json in the folder. Files of torch.save can be read by " +
      "eg.io.loadTorch() and written by eg.io.saveSafetensors().",
  );
}

async function loadWeights(
  model: PreTrainedModel,
  family: Family,
  reader: WeightFile,
  options: FromPretrainedOptions,
  progress: PartProgress,
): Promise<void> {
  const names = Object.keys(model.stateDict());
  const known = new Set(names);
  const tensors: [key: string, name: string][] = [];
  const omitted: [key: string, omitted: Omitted][] = [];
  const unexpected: string[] = [];
  for (const key of reader.keys) {
    const name = nameInModel(key, known, family.prefix);
    if (name !== null) tensors.push([key, name]);
    else if (isConstant(key)) {
      if (!isFrequencies(key)) omitted.push([key, await reader.info(key)]);
    } else if (!family.unused?.test(key)) unexpected.push(key);
  }
  const mismatched = await mismatchedHeads(model, family, reader, tensors);
  if (mismatched.length > 0 && options.ignoreMismatchedSizes !== true) {
    const advice = "ignoreMismatchedSizes: true begins a new head";
    fail("ShapeMismatch", kWhere, `${listOf(mismatched)}. ${advice}.`);
  }
  if (mismatched.length > 0) {
    const isKept = ([, name]: readonly [string, string]) =>
      !mismatched.some((line) => line.startsWith(`${name}: `));
    tensors.splice(0, tensors.length, ...tensors.filter(isKept));
  }
  const given = new Set(tensors.map(([, name]) => name));
  const isThere = (name: string) =>
    given.has(name) ||
    given.has(model.tied[name] ?? "") ||
    tiedTo(model.tied, name).some((tied) => given.has(tied));
  const missing = names.filter((name) => !isThere(name));
  reportNames(family, missing, unexpected);
  const quantized = await matricesOf(model, family, reader, tensors, options);
  await readInto(model, quantized, reader, tensors, options, progress);
  drawHead(model, missing);
  model.fileNames = {
    tensors: Object.fromEntries(tensors),
    omitted: Object.fromEntries(omitted),
    metadata: reader.metadata,
  };
}

// The matrices to quantize: those that are quantized in the file, and those that the program asks for. Heads are not quantized, and tables that are
// also heads get eight bits.
async function matricesOf(
  model: PreTrainedModel,
  { heads }: Family,
  reader: WeightFile,
  tensors: readonly (readonly [key: string, name: string])[],
  { quantization, dequantize }: FromPretrainedOptions,
): Promise<ReadonlyMap<string, Quantized>> {
  if (quantization === undefined && reader.format === undefined) return new Map();
  const { formatOf, quantizable } = await import("../blocks/quantized.js");
  const bits = kBits[quantization ?? ""];
  const wantedFormat: FormatOf = (name, kind) => {
    if (bits === undefined || kind === "table") return null;
    if (kind === "tied table") return formatOf(8);
    return heads.test(name) ? null : formatOf(bits);
  };
  const keys = new Map(tensors.map(([key, name]) => [name, key]));
  return quantizable(model, model.tied, (name, kind) => {
    const key = keys.get(name);
    const isStored = key !== undefined && dequantize !== true;
    return (isStored && reader.format?.(key)) || wantedFormat(name, kind);
  });
}

// The tensors of heads whose sizes differ from those of the model, with both.
async function mismatchedHeads(
  model: PreTrainedModel,
  family: Family,
  reader: WeightFile,
  tensors: readonly (readonly [key: string, name: string])[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [key, name] of tensors) {
    if (!family.heads.test(name)) continue;
    const { shape } = await reader.info(key);
    const wanted = model.getParameter(name).shape;
    if (String(shape) !== String(wanted)) {
      found.push(
        `${name}: the model has [${wanted.join(", ")}], and the file [${shape.join(", ")}]`,
      );
    }
  }
  return found;
}

// Only a head may be missing, because it is trained for a new task.
function reportNames(
  family: Family,
  missing: readonly string[],
  unexpected: readonly string[],
): void {
  const lost = missing.filter((name) => !family.heads.test(name));
  if (lost.length > 0) {
    fail(
      "InvalidArgument",
      kWhere,
      `the file has no tensors for ${listOf(lost)}. It has others: ${listOf(unexpected)}.`,
    );
  }
  if (missing.length > 0) {
    console.warn(
      `edgegrad: [${kWhere}] the file has no weights for ${listOf(missing)}: these are new, and have to be trained.`,
    );
  }
  if (unexpected.length > 0) {
    console.warn(
      `edgegrad: [${kWhere}] the model does not use these tensors of the file: ${listOf(unexpected)}.`,
    );
  }
}

function listOf(names: readonly string[]): string {
  const first = names.slice(0, 6).join(", ");
  return names.length > 6 ? `${first} and ${names.length - 6} more` : first || "none";
}

// Weights are normal with the standard deviation of config.json, and biases are zero.
function drawHead(model: PreTrainedModel, missing: readonly string[]): void {
  if (missing.length === 0) return;
  const deviation = Number(model.config.initializer_range ?? 0.02);
  const loaded = model.namedParameters().find(([name]) => !missing.includes(name));
  const { device, dtype } = (loaded as [string, eg.nn.Parameter])[1];
  eg.scope(() => {
    const drawn = missing.map((name) => {
      const { shape } = model.getParameter(name);
      const isMatrix = shape.length > 1;
      const values = isMatrix ? eg.randn(shape).mul(deviation) : eg.zeros(shape);
      return [name, values.to(device).to(dtype)] as const;
    });
    model.loadStateDict(Object.fromEntries(drawn), { strict: false, assign: true });
  });
}

const kAtOnce = 4;

async function readInto(
  model: PreTrainedModel,
  quantized: ReadonlyMap<string, Quantized>,
  reader: WeightFile,
  tensors: readonly (readonly [key: string, name: string])[],
  { device = "cpu", dtype = "auto", dequantize = false }: FromPretrainedOptions,
  progress: PartProgress,
): Promise<void> {
  const state = new Map<string, eg.Tensor>();
  const waiting = [...tensors];
  const readNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [key, name] = next;
      const info = await reader.info(key);
      const isConverted = dtype !== "auto" && /float/.test(info.dtype);
      const own = quantized.get(name);
      if (own === undefined) {
        const options = { device, ...(isConverted && { dtype }) };
        state.set(name, await reader.tensor(key, options));
      } else {
        const isStored = !dequantize && reader.format?.(key);
        if (isStored) await (reader as CodedFile).readCodes(key, own.matrix);
        else await readQuantized(reader, key, own, progress);
        own.matrix.moveTo(device);
        own.place(isConverted ? dtype : info.dtype);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: kAtOnce }, readNext));
    model.loadStateDict(Object.fromEntries(state), { strict: false, assign: true });
  } finally {
    waiting.length = 0;
    for (const tensor of state.values()) tensor.dispose();
  }
}
