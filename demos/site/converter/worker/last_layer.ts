// The last linear layer of a model: where it is in the graph, and its training on what the layers before it make of pictures. These do
// not change, so they compute their features once, and every step is only as expensive as one small layer.

import * as eg from "edgegrad";
import { load, type OnnxDescription, type OnnxModule, type OnnxNode } from "edgegrad/onnx";
import type { OpenFile } from "./files.js";

/** Where the last linear layer is. */
export interface LastLayer {
  /** The value that it reads. */
  readonly features: string;
  readonly weight: string;
  readonly bias: string | null;
  /** Whether the weight is stored as [inputs, outputs], as MatMul reads it. */
  readonly isTransposed: boolean;
  /** Whether what is behind it makes probabilities of the scores. */
  readonly hasSoftmax: boolean;
}

/** Ops behind the last layer that leave the order of the scores as it is. */
const kBehind = [
  "Softmax",
  "LogSoftmax",
  "Sigmoid",
  "Identity",
  "Reshape",
  "Flatten",
  "Squeeze",
  "Cast",
];

/** Finds the last linear layer before the first output, or says why there is none. */
export function lastLayerOf({ nodes, outputs, initializers }: OnnxDescription): LastLayer | string {
  const makers = new Map(
    nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)),
  );
  const stored = new Set(initializers.map(({ name }) => name));
  const isStored = (name: string | undefined): name is string =>
    name !== undefined && stored.has(name);
  let node = makers.get(outputs[0]?.name ?? "");
  let hasSoftmax = false;
  while (node !== undefined && kBehind.includes(node.op)) {
    hasSoftmax ||= node.op === "Softmax";
    node = makers.get(node.inputs[0] ?? "");
  }
  if (node === undefined) return "The first output is no result of a layer.";
  const [a = "", b = "", c] = node.inputs;
  if (node.op === "Gemm" && isStored(b) && isPlainGemm(node)) {
    const isTransposed = Number(node.attributes.transB ?? 0) === 0;
    return { features: a, weight: b, bias: isStored(c) ? c : null, isTransposed, hasSoftmax };
  }
  const [bias, product] = isStored(a)
    ? [a, makers.get(b)]
    : [isStored(b) ? b : null, makers.get(a)];
  const matmul =
    node.op === "MatMul" ? node : node.op === "Add" && bias !== null ? product : undefined;
  const [features = "", weight] = matmul?.inputs ?? [];
  if (matmul?.op === "MatMul" && isStored(weight)) {
    return {
      features,
      weight,
      bias: node === matmul ? null : bias,
      isTransposed: true,
      hasSoftmax,
    };
  }
  return `It ends with ${node.op}, and not with a linear layer whose weights the file stores.`;
}

function isPlainGemm({ attributes }: OnnxNode): boolean {
  const { alpha = "1", beta = "1", transA = "0" } = attributes;
  return Number(alpha) === 1 && Number(beta) === 1 && Number(transA) === 0;
}

/** Computes what the layers before the last one make of inputs, in batches. */
export async function featuresOf(
  { file, beside }: OpenFile,
  { features }: LastLayer,
  batches: readonly (() => eg.Tensor)[],
): Promise<eg.Tensor> {
  const body = await load(file, { externalData: beside, outputs: [features], trainable: false });
  try {
    const parts: eg.Tensor[] = [];
    for (const batch of batches) {
      parts.push(eg.scope(() => eg.noGrad(() => body.call(batch()) as eg.Tensor)));
    }
    const all = eg.cat(parts);
    for (const part of parts) part.dispose();
    if (all.ndim === 2) return all;
    all.dispose();
    throw new Error(`The last layer reads ${all.ndim} dimensions, and not one row per picture.`);
  } finally {
    for (const tensor of body.buffers()) tensor.dispose();
  }
}

/** A linear layer for training: the one of the model, or a new one if the number of classes is another. */
export function headFor(
  module: OnnxModule,
  layer: LastLayer,
  classes: number,
): { head: eg.nn.Linear; isNew: boolean } {
  const weight = rowsOf(module, layer);
  const [outputs = 0, inputs = 0] = weight.shape;
  const head = new eg.nn.Linear(inputs, classes, { bias: layer.bias !== null });
  const isNew = outputs !== classes;
  if (!isNew) {
    eg.noGrad(() => {
      head.weight.copy_(weight);
      if (layer.bias !== null) head.bias?.copy_(module.getParameter(layer.bias));
    });
  }
  return { head, isNew };
}

/** Writes a trained layer into the model, whose last layer then has as many outputs as the trained one. */
export function putHead(module: OnnxModule, layer: LastLayer, head: eg.nn.Linear): void {
  const weight = head.weight.detach();
  replace(module, layer.weight, layer.isTransposed ? weight.t().contiguous() : weight.clone());
  if (layer.bias !== null && head.bias !== null) {
    replace(module, layer.bias, head.bias.detach().clone());
  }
}

function rowsOf(module: OnnxModule, { weight, isTransposed }: LastLayer): eg.Tensor {
  const tensor = module.getParameter(weight).detach();
  return isTransposed ? tensor.t() : tensor;
}

function replace(module: OnnxModule, name: string, tensor: eg.Tensor): void {
  const old = module.getParameter(name);
  const at = name.lastIndexOf(".");
  const owner = at < 0 ? module : module.getSubmodule(name.slice(0, at));
  const value = new eg.nn.Parameter(tensor.to(old.dtype));
  Object.assign(owner, { [name.slice(at + 1)]: value });
  old.dispose();
}
