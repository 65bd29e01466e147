// What a model says about itself, apart from its graph.

import { kBuffersKey, kParametersKey } from "./export/kept_file.js";
import type { Message } from "./proto/schema.js";

/** What a model says about itself. */
export interface OnnxHeader {
  /** The version of ONNX's default operator set that the model was written for. */
  readonly opset: number;
  /** The program that wrote the file, with its version. */
  readonly producer: string;
  /** The metadata of the file: strings by name, without those that save() adds for load(). */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Returns what a model says about itself. */
export function headerOf(model: Message<"Model">): OnnxHeader {
  const version = model.opsetImport.find(({ domain }) => normalDomain(domain) === "")?.version;
  return {
    opset: Number(version ?? 1),
    producer: [model.producerName, model.producerVersion].filter(Boolean).join(" "),
    metadata: Object.fromEntries(
      model.metadataProps
        .filter(({ key }) => key !== kBuffersKey && key !== kParametersKey)
        .map(({ key, value }) => [key ?? "", value ?? ""]),
    ),
  };
}

/** Returns the normalized name of a domain: "" for the default domain, which is also called "ai.onnx". */
export function normalDomain(domain: string | undefined): string {
  return domain === undefined || domain === "ai.onnx" ? "" : domain;
}

/** Returns the domains that a model imports. */
export function importsOf(model: Message<"Model">): string[] {
  const imports = [model, ...model.functions].flatMap(({ opsetImport }) => opsetImport);
  return imports.map(({ domain }) => normalDomain(domain));
}

/** Returns the nodes of a model, also those of its functions and of graphs inside others. */
export function* nodesIn(model: Message<"Model">): Iterable<Message<"Node">> {
  const left = [model.graph, ...model.functions].map((owner) => owner?.node ?? []);
  for (let nodes = left.pop(); nodes !== undefined; nodes = left.pop()) {
    for (const node of nodes) {
      yield node;
      for (const { g, graphs } of node.attribute) {
        if (g !== undefined) left.push(g.node);
        for (const graph of graphs) left.push(graph.node);
      }
    }
  }
}
