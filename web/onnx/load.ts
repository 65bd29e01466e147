// load(): from the bytes of a file to a module.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import { buffersIn, fileWithout } from "./export/kept_file.js";
import type { ExternalData } from "./files/external.js";
import { noteReleases, readBy, removeUnused, usesOf } from "./graph/analyze.js";
import { type Compiled, compile, type Initializer, isFloating } from "./graph/compile.js";
import { fuse } from "./graph/patterns/index.js";
import type { Subgraph } from "./graph/program.js";
import { headerOf, importsOf, nodesIn } from "./header.js";
import { graphValue } from "./interface.js";
import { type Member, moduleOf, type OnnxModule, type Program } from "./module.js";
import { memberPaths } from "./names.js";
import { openFile } from "./open_file.js";
import { type Domains, loadDomains } from "./ops/index.js";
import { readMessage } from "./proto/read.js";
import type { Message } from "./proto/schema.js";
import type { OpenFile, Source } from "./source.js";
import { type Apart, disposeTensors, freeScratch, hostOf } from "./tensors/decode.js";
import { externalTensors } from "./tensors/external_tensors.js";
import { tensorOfStored } from "./tensors/pieces.js";
import { kMostHostElements } from "./values/host.js";
import type { Value } from "./values/value.js";

const kWhere = "onnx.load";

/** Options of `load`. */
export interface LoadOptions {
  /**
   * The external files with tensors of the model, by the names that the model uses. For a URL, files beside it are fetched by default.
   */
  readonly externalData?: ExternalData | undefined;
  /** The names of the values that the module returns, which may be intermediate ones; default: the outputs of the graph. */
  readonly outputs?: readonly string[] | undefined;
  /** Whether floating-point initializers become parameters; otherwise they are buffers. Default true. */
  readonly trainable?: boolean | undefined;
}

const kOptions = ["externalData", "outputs", "trainable"];

/**
 * Reads an ONNX model and returns it as a module. Floating-point initializers that an output depends on are its parameters, under their
 * own names; other initializers are buffers. Throws InvalidArgument for damaged bytes, and one error that lists everything in the model
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
    const { model, apart } = await readFile(file, source, options.externalData);
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
    return eg.scope(() => moduleFrom(compile(model, apart, domains), model, options));
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
  const { outputs, trainable } = options;
  if (trainable !== undefined && typeof trainable !== "boolean") {
    fail("InvalidArgument", kWhere, "trainable: expected true or false.");
  }
  const isList = Array.isArray(outputs) && outputs.length > 0;
  if (outputs !== undefined && !(isList && outputs.every((one) => typeof one === "string"))) {
    fail("InvalidArgument", kWhere, "outputs: expected a list of names.");
  }
}

function moduleFrom(compiled: Compiled, model: Message<"Model">, options: LoadOptions): OnnxModule {
  const message = model.graph as Message<"Graph">;
  const graph = withOutputs(compiled, options.outputs);
  removeUnused(graph);
  fuse(graph, new Map(compiled.constants.map(({ slot, value }) => [slot, value])));
  noteReleases(graph);
  const uses = usesOf(graph);
  const needed = new Set([...graph.outputs, ...graph.steps.flatMap(readBy)]);
  const frame: Value[] = new Array(compiled.slotCount).fill(undefined);
  const held: Held[] = [];
  for (const { slot, value } of compiled.constants) {
    if (value instanceof eg.Tensor) held.push(constantTensor(slot, value));
    else frame[slot] = value;
  }
  const buffers = buffersIn(model);
  for (const one of compiled.initializers) {
    const use = uses.get(one.slot);
    if (use?.isSetting && one.tensor.count <= kMostHostElements)
      frame[one.slot] = hostOf(one.tensor);
    else {
      const isState = use?.isUpdated || buffers.has(one.name);
      const isLearned = needed.has(one.slot) && isFloating(one.tensor) && !isState;
      held.push(initializerTensor(one, isLearned && options.trainable !== false));
    }
  }
  return moduleOf(
    programFrom(graph, frame, held, message, model, compiled.initializers, options),
    held.map(({ value }) => value),
  );
}

interface Held {
  readonly slot: number;
  readonly name: string;
  readonly value: eg.nn.Parameter | eg.nn.Buffer;
}

// Constants of the graph move with the module, but are not in its state dict.
function constantTensor(slot: number, tensor: eg.Tensor): Held {
  return { slot, name: `constant_${slot}`, value: new eg.nn.Buffer(tensor, { persistent: false }) };
}

function initializerTensor({ slot, name, tensor }: Initializer, isLearned: boolean): Held {
  const data = tensorOfStored(tensor);
  return { slot, name, value: isLearned ? new eg.nn.Parameter(data) : new eg.nn.Buffer(data) };
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
  held: readonly Held[],
  message: Message<"Graph">,
  model: Message<"Model">,
  initializers: readonly Initializer[],
  { outputs }: LoadOptions,
): Program {
  const defaults = new Set(message.initializer.map(({ name }) => name));
  const all = message.input.map((one, i) => ({
    slot: graph.inputs[i] as number,
    value: graphValue(one, defaults.has(one.name)),
  }));
  // Required inputs come first. Inputs with an initializer as default, which only older files have, can be given by name.
  const inputs = [
    ...all.filter(({ value }) => !defaults.has(value.name)),
    ...all.filter(({ value }) => defaults.has(value.name)),
  ];
  const known = new Map(
    [...message.valueInfo, ...message.input, ...message.output].map((one) => [one.name, one]),
  );
  const names = outputs ?? message.output.map(({ name }) => name ?? "");
  const paths = memberPaths(held.map(({ name }) => name));
  return {
    graph: { ...graph, inputs: inputs.map(({ slot }) => slot) },
    frame,
    inputs: inputs.map(({ value }) => value),
    outputs: names.map((name) => graphValue(known.get(name) ?? emptyInfo(name), false)),
    members: held.map(({ slot, name }, i): Member => ({ slot, name, path: paths[i] as string[] })),
    ...headerOf(model),
    file: fileWithout(
      { ...model, graph: { ...message, output: outputsIn(message, known, outputs) } },
      held,
      new Map(initializers.map(({ name, tensor }) => [name, tensor])),
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
