// load(): from the bytes of a file to a module.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import {
  fileWithout,
  kBuffersKey,
  kParametersKey,
  namesIn,
  withKinds,
} from "./export/kept_file.js";
import type { ExternalData } from "./files/external.js";
import type { FixedInput } from "./fixed_inputs.js";
import { noteReleases, removeUnused, usesOf } from "./graph/analyze.js";
import { type Compiled, compile, constantOf, isFloating } from "./graph/compile.js";
import { fold } from "./graph/fold.js";
import { type IsTrainable, Keeper, type Kept } from "./graph/hold.js";
import { fuse } from "./graph/patterns/index.js";
import type { Subgraph } from "./graph/program.js";
import { Uses } from "./graph/uses.js";
import { headerOf, importsOf, nodesIn } from "./header.js";
import { graphValue } from "./interface.js";
import { type Member, moduleOf, type OnnxModule, type Program } from "./module.js";
import { memberPaths } from "./names.js";
import { openFile, refuseOthers } from "./open_file.js";
import { type Domains, loadDomains } from "./ops/index.js";
import { readMessage } from "./proto/read.js";
import type { Message } from "./proto/schema.js";
import type { OpenFile, Source } from "./source.js";
import { type Apart, disposeTensors, freeScratch } from "./tensors/decode.js";
import { externalTensors } from "./tensors/external_tensors.js";
import { listsAsTensors, tensorsIn } from "./tensors/model_tensors.js";
import { Host, kMostHostElements } from "./values/host.js";
import type { Value } from "./values/value.js";

const kWhere = "onnx.load";

/** Options of `load`. */
export interface LoadOptions {
  /**
   * The external files with tensors of the model, by the names that the model uses. For a URL, files beside it are fetched by default.
   */
  readonly externalData?: ExternalData | undefined;
  /**
   * Values of inputs by name, such as `{ sr: 16000n }`: the module does not have these inputs, and what depends only on them is computed
   * once, also which branch is taken.
   */
  readonly inputs?: Readonly<Record<string, FixedInput>> | undefined;
  /** The names of the values that the module returns, which may be intermediate ones; default: the outputs of the graph. */
  readonly outputs?: readonly string[] | undefined;
  /**
   * Whether the weights of the graph become parameters; otherwise they are buffers. A function decides for each stored floating-point
   * tensor, from its name and how the graph uses it. Default true.
   */
  readonly trainable?: boolean | IsTrainable | undefined;
}

const kOptions = ["externalData", "inputs", "outputs", "trainable"];

/**
 * Reads an ONNX model and returns it as a module. What its ops learn are its parameters, under their own names: the weights of products,
 * convolutions and norms, embeddings, biases and the like, wherever the file stores them. Other floating-point initializers are buffers, and
 * single numbers constants; `describe()` of the module says which and why. Throws InvalidArgument for damaged bytes, and one error that lists everything in the model
 * that is not supported.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the file knows how many outputs its graph has, and of which kinds.
export async function load<Output = any>(
  source: Source,
  options: LoadOptions = {},
): Promise<OnnxModule<Output>> {
  checkOptions(options);
  const file = await openFile(kWhere, source);
  try {
    await refuseOthers(kWhere, file);
    const { model: read, apart } = await readFile(file, source, options.externalData);
    const { inputs } = options;
    const model = inputs ? (await import("./fixed_inputs.js")).withFixedInputs(read, inputs) : read;
    listsAsTensors(nodesIn(model));
    const domains = await loadDomains(importsOf(model), nodesIn(model));
    return moduleOfParts(model, apart, domains, options);
  } finally {
    freeScratch();
    await file.close();
  }
}

interface FileContent {
  readonly model: Message<"Model">;
  readonly apart: ReadonlyMap<Message<"Tensor">, Apart>;
}

// The code that reads files in parts is loaded only when it is needed: most models are in memory.
async function readFile(
  file: OpenFile,
  source: Source,
  externalData: ExternalData | undefined,
): Promise<FileContent> {
  if (file.bytes !== null) {
    const model = readMessage("Model", file.bytes);
    if (externalTensors(model).length === 0) return { model, apart: new Map() };
  }
  return (await import("./files/index.js")).readInParts(file, source, externalData, openFile);
}

function moduleOfParts(
  model: Message<"Model">,
  apart: ReadonlyMap<Message<"Tensor">, Apart>,
  domains: Domains,
  options: LoadOptions,
): OnnxModule {
  try {
    return eg.scope(() => moduleFrom(compile(model, apart, domains), model, apart, options));
  } catch (error) {
    disposeTensors(apart);
    throw error;
  }
}

function checkOptions(options: LoadOptions): void {
  if (typeof options !== "object" || options === null) {
    fail("InvalidArgument", kWhere, "expected an object of options.");
  }
  const unknown = Object.keys(options).find((name) => !kOptions.includes(name));
  if (unknown !== undefined) {
    fail(
      "InvalidArgument",
      kWhere,
      `unknown option "${unknown}"; the options are ${kOptions.join(", ")}.`,
    );
  }
  const { inputs, outputs, trainable } = options;
  if (inputs !== undefined && (typeof inputs !== "object" || inputs === null)) {
    fail("InvalidArgument", kWhere, "inputs: expected an object with values by name.");
  }
  if (trainable !== undefined && !["boolean", "function"].includes(typeof trainable)) {
    fail("InvalidArgument", kWhere, "trainable: expected true, false or a function.");
  }
  const isList = Array.isArray(outputs) && outputs.length > 0;
  if (outputs !== undefined && !(isList && outputs.every((output) => typeof output === "string"))) {
    fail("InvalidArgument", kWhere, "outputs: expected a list of names.");
  }
}

function moduleFrom(
  compiled: Compiled,
  model: Message<"Model">,
  apart: ReadonlyMap<Message<"Tensor">, Apart>,
  options: LoadOptions,
): OnnxModule {
  const { stored, constants, slotCount } = compiled;
  const graph = withOutputs(compiled, options.outputs);
  const fixed = new Set(Object.keys(options.inputs ?? {}));
  // Since version 4 of the format, an input with a stored tensor is one that a call may replace.
  const replaced = new Set(Number(model.irVersion ?? 0) < 4 ? [] : graph.inputs);
  const defaults = new Map<number, Value>();
  const set = (slots: readonly number[], value: Value) => {
    for (const slot of slots) (replaced.has(slot) ? defaults : constants).set(slot, value);
  };
  // Branches whose conditions are known are taken before it is decided what is learned.
  for (const tensor of stored) {
    if (isFloating(tensor.tensor) && !fixed.has(tensor.name)) continue;
    const value = tensor.tensor.count <= kMostHostElements ? constantOf(tensor.tensor) : undefined;
    if (value instanceof Host) set(tensor.slots, value);
  }
  fold(graph, constants);
  removeUnused(graph);
  const listed = {
    parameters: namesIn(model, kParametersKey),
    buffers: namesIn(model, kBuffersKey),
  };
  const uses = new Uses(graph, stored);
  const kept = new Keeper(uses, usesOf(graph), listed, fixed, options.trainable ?? true).keep(
    stored,
  );
  for (const { slots, value } of kept.constants) set(slots, value);
  fold(graph, constants);
  fuse(graph, constants);
  noteReleases(graph);
  const frame: Value[] = new Array(slotCount).fill(undefined);
  for (const [slot, value] of [...constants, ...defaults]) frame[slot] = value;
  return moduleOf(
    programFrom(graph, frame, kept, model, apart, options),
    [...kept.held.values()].map(({ value }) => value),
  );
}

function withOutputs({ graph, slotOf }: Compiled, names: readonly string[] | undefined): Subgraph {
  if (names === undefined) return graph;
  const outputs = names.map((name) => {
    const slot = slotOf.get(name);
    return slot ?? fail("InvalidArgument", kWhere, `outputs: the graph has no value "${name}".`);
  });
  return { ...graph, outputs };
}

function programFrom(
  graph: Subgraph,
  frame: readonly Value[],
  { held, described }: Kept,
  model: Message<"Model">,
  apart: ReadonlyMap<Message<"Tensor">, Apart>,
  { outputs, trainable }: LoadOptions,
): Program {
  const message = model.graph as Message<"Graph">;
  const defaults = new Set(message.initializer.map(({ name }) => name));
  const all = message.input.map((declared, i) => ({
    slot: graph.inputs[i] as number,
    value: graphValue(declared, defaults.has(declared.name)),
  }));
  // Required inputs come first. Inputs with an initializer as default, which only older files have, can be given by name.
  const inputs = [
    ...all.filter(({ value }) => !defaults.has(value.name)),
    ...all.filter(({ value }) => defaults.has(value.name)),
  ];
  const known = new Map(
    [...message.valueInfo, ...message.input, ...message.output].map((value) => [value.name, value]),
  );
  const names = outputs ?? message.output.map(({ name }) => name ?? "");
  const places = new Map(tensorsIn(model).map((tensor, at) => [tensor, at]));
  const members = [...held];
  const paths = memberPaths(members.map(([, { name }]) => name));
  return {
    graph: { ...graph, inputs: inputs.map(({ slot }) => slot) },
    frame,
    inputs: inputs.map(({ value }) => value),
    outputs: names.map((name) => graphValue(known.get(name) ?? emptyInfo(name), false)),
    members: members.map(([{ tensor }, { slots, name, value }], i): Member => {
      const at = places.get(tensor.message) as number;
      return { slots, at, name, dtype: value.dtype, path: paths[i] as string[] };
    }),
    tensors: described,
    ...headerOf(model),
    file: fileWithout(
      {
        ...model,
        graph: { ...message, output: outputsIn(message, known, outputs) },
        // What a function has decided is in no other place.
        ...(typeof trainable === "function" && { metadataProps: withKinds(model, described) }),
      },
      new Map(members.map(([{ tensor }, { value }]) => [tensor.message, value])),
      apart,
    ),
  };
}

// The declarations of the chosen outputs.
function outputsIn(
  { output }: Message<"Graph">,
  known: ReadonlyMap<string | undefined, Message<"ValueInfo">>,
  names: readonly string[] | undefined,
): readonly Message<"ValueInfo">[] {
  return names?.map((name) => known.get(name) ?? emptyInfo(name)) ?? output;
}

const emptyInfo = (name: string): Message<"ValueInfo"> => ({
  name,
  type: undefined,
  docString: undefined,
});
