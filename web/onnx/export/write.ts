// Traces a module or a function and writes it as an ONNX model.

import { type Bytes, keep, nn, scope, type Tensor, tensor } from "edgegrad";
import { fail } from "../../errors/errors.js";
import { OnnxModule, programOf } from "../module.js";
import { fileWith, tensorsOf } from "./loaded.js";
import { checkConstant, type Merged, merge, resize, sizesToTry } from "./merge.js";
import { writeTraced } from "./model.js";
import { type ReadOptions, readOptions, type SaveOptions } from "./options.js";
import { kComposites } from "./table.js";
import { Session, type Traceable, trace } from "./trace.js";
import { Value } from "./values.js";

const kWhere = "onnx.save";

/** Implements save(). */
export async function write(target: Traceable, options: SaveOptions | undefined): Promise<Bytes> {
  if (!(target instanceof nn.Module) && typeof target !== "function") {
    fail(
      "InvalidArgument",
      kWhere,
      "the first argument must be an nn.Module or a function of tensors.",
    );
  }
  if (target instanceof OnnxModule && options?.inputs === undefined) {
    return savedAgain(target, options);
  }
  return written(target, readOptions(target, options));
}

// Without inputs, the graph of the file stays unchanged.
async function savedAgain(module: OnnxModule, options: SaveOptions | undefined): Promise<Bytes> {
  const given = Object.entries(options ?? {}).find(([, value]) => value !== undefined);
  if (given !== undefined) {
    const message = `${given[0]}: without inputs a loaded model is written as it was. Give inputs, and it is traced anew.`;
    fail("InvalidArgument", kWhere, message);
  }
  const { file, members } = programOf(module);
  const tensors = tensorsOf(module, members);
  const parameters = [...tensors.values()].map(
    (tensor) => new Value("parameter", tensor.dtype, tensor.shape, "", tensor.detach()),
  );
  try {
    await bringToCpu(parameters);
    return fileWith(
      file,
      new Map([...tensors.keys()].map((at, i) => [at, parameters[i]?.data as Tensor])),
    );
  } finally {
    for (const { data } of parameters) data?.dispose();
  }
}

// Runs `fn` with all submodules of a module in evaluation or training mode.
function inMode<T>(target: Traceable, training: boolean, fn: () => T): T {
  const parts = target instanceof nn.Module ? target.modules() : [];
  const before = parts.map((part) => part.training);
  for (const part of parts) part.training = training;
  try {
    return fn();
  } finally {
    for (const [i, part] of parts.entries()) part.training = before[i] as boolean;
  }
}

async function written(target: Traceable, options: ReadOptions): Promise<Bytes> {
  const session = new Session();
  const { held } = session;
  try {
    const { traced, constants } = inMode(target, options.training, () =>
      scope(() => traceAll(target, options, session)),
    );
    await bringToCpu(held);
    constants.forEach(checkConstant);
    return scope(() => writeTraced(traced, options));
  } finally {
    for (const { data } of held) data?.dispose();
  }
}

// Reads elements from other devices asynchronously, because a page's main thread cannot wait for them.
async function bringToCpu(values: readonly Value[]): Promise<void> {
  for (const value of values) {
    const { data, dtype } = value;
    if (data === null || data.device === "cpu") continue;
    value.data = keep(tensor(await data.data(), { dtype, shape: data.shape }));
    data.dispose();
  }
}

function traceAll(target: Traceable, { inputs, axes }: ReadOptions, session: Session): Merged {
  const isWhole = (op: string) => Object.hasOwn(kComposites, op);
  const sizes = new Map<string, number>();
  for (const [i, list] of axes.entries()) {
    for (const [dim, name] of list) {
      const size = (inputs[i] as Tensor).shape[dim] as number;
      const known = sizes.get(name);
      if (known !== undefined && known !== size) {
        fail(
          "ShapeMismatch",
          kWhere,
          `dynamicAxes: "${name}" is ${known} in one input and ${size} in another.`,
        );
      }
      sizes.set(name, size);
    }
  }
  const tries = sizesToTry(sizes);
  if (tries.length === 0) return merge([trace(target, inputs, isWhole, session)]);
  let failure: unknown;
  for (const sets of tries) {
    try {
      const traces = sets.map((set) => {
        const given = inputs.map((input, i) => resize(input, axes[i] ?? [], set));
        return trace(target, given, isWhole, session);
      });
      return merge(traces);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
