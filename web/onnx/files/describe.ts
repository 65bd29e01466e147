// The implementation of inspect(), which also describes models that load() rejects.

import { fail } from "../../errors/errors.js";
import type { OnnxDescription, OnnxInitializer, OnnxNode } from "../description.js";
import { headerOf, importsOf, nodesIn, normalDomain } from "../header.js";
import { graphValue } from "../interface.js";
import { originOf, readMessage } from "../proto/read.js";
import type { Message } from "../proto/schema.js";
import { byteLength } from "../tensors/decode.js";
import { dtypeOf, typeNumbered } from "../values/types.js";

/** The largest number of an attribute's elements that are written out. */
const kMostNumbers = 16;
const kMostCharacters = 200;

/** Whether an op is known in a version of a domain. */
export type IsKnown = (domain: string, name: string, version: number) => boolean;

/** Returns the description of the model in these bytes; `knownOps` loads the domains and returns which of their ops are known. */
export async function describe(
  where: string,
  bytes: Uint8Array,
  knownOps: (domains: Iterable<string>, nodes: Iterable<Message<"Node">>) => Promise<IsKnown>,
): Promise<OnnxDescription> {
  const model = readMessage("Model", bytes, originOf(bytes.length, where));
  const { graph } = model;
  if (graph === undefined) {
    return fail("InvalidArgument", where, "expected an ONNX model, got a file without a graph.");
  }
  const stored = new Set(graph.initializer.map(({ name }) => name));
  const declared = [...graph.valueInfo, ...graph.input, ...graph.output];
  const values = declared
    .map((value) => graphValue(value, false))
    .filter(({ hasShape }) => hasShape);
  const isSupported = supportOf(model, await knownOps(importsOf(model), nodesIn(model)));
  return {
    inputs: graph.input
      .filter(({ name }) => !stored.has(name))
      .map((input) => graphValue(input, false)),
    outputs: graph.output.map((output) => graphValue(output, false)),
    nodes: graph.node.map((node) => nodeOf(node, isSupported(node))),
    initializers: graph.initializer.map(initializerOf),
    shapes: Object.fromEntries(values.map(({ name, shape }) => [name, shape])),
    ...headerOf(model),
  };
}

function supportOf(model: Message<"Model">, isKnown: IsKnown): (node: Message<"Node">) => boolean {
  const versions = new Map(
    model.opsetImport.map(({ domain, version }) => [normalDomain(domain), Number(version ?? 1)]),
  );
  const called = new Set(
    model.functions.map(({ domain, name }) => `${normalDomain(domain)}.${name}`),
  );
  return ({ domain, opType = "" }) => {
    const set = normalDomain(domain);
    return called.has(`${set}.${opType}`) || isKnown(set, opType, versions.get(set) ?? 1);
  };
}

function nodeOf(node: Message<"Node">, isSupported: boolean): OnnxNode {
  return {
    name: node.name ?? "",
    op: node.opType ?? "",
    domain: normalDomain(node.domain) || "ai.onnx",
    inputs: node.input,
    outputs: node.output,
    attributes: Object.fromEntries(
      node.attribute.map((attribute) => [attribute.name ?? "", textOf(attribute)]),
    ),
    isSupported,
  };
}

// The field that is set determines the kind of an attribute; writers before version 3 of the format omit the kind itself.
function textOf(attribute: Message<"Attribute">): string {
  const { f, i, s, t, g, floats, ints, strings, tensors, graphs, refAttrName } = attribute;
  if (refAttrName) return `attribute ${refAttrName} of the function`;
  if (t !== undefined) return `tensor ${typeOf(t)} [${t.dims.join(", ")}]`;
  if (g !== undefined) return `graph of ${g.node.length} nodes`;
  if (s !== undefined) return decoded(s);
  if (i !== undefined || f !== undefined) return String(i ?? f);
  const list = [...floats, ...ints, ...strings.map(decoded)];
  if (tensors.length + graphs.length > 0)
    return `${tensors.length + graphs.length} tensors or graphs`;
  const more = list.length > kMostNumbers ? ", …" : "";
  return `[${list.slice(0, kMostNumbers).join(", ")}${more}]`;
}

function decoded(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, kMostCharacters));
  return bytes.length > kMostCharacters ? `${text}…` : text;
}

function typeOf({ dataType }: Message<"Tensor">): string {
  return typeNumbered(dataType) ?? `of the unknown type ${dataType}`;
}

function initializerOf(tensor: Message<"Tensor">): OnnxInitializer {
  const type = typeNumbered(tensor.dataType);
  const shape = tensor.dims.map(Number);
  return {
    name: tensor.name ?? "",
    type: typeOf(tensor),
    dtype: (type && dtypeOf(type)) ?? "string",
    shape,
    bytes:
      type === undefined
        ? 0
        : byteLength(
            type,
            shape.reduce((product, size) => product * size, 1),
          ),
  };
}
