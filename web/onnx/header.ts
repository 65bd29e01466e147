// What a model says about itself beside its graph.

import { kBuffersKey } from "./export/kept_file.js";
import type { Message } from "./proto/schema.js";

/** What a model says about itself. */
export interface OnnxHeader {
  /** The version of ONNX's default operator set that the model was written for. */
  readonly opset: number;
  /** The program that wrote the file, with its version. */
  readonly producer: string;
  /** The metadata of the file: texts by name, without what save() notes for load(). */
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
        .filter(({ key }) => key !== kBuffersKey)
        .map(({ key, value }) => [key ?? "", value ?? ""]),
    ),
  };
}

/** Returns the name of a domain, of which the default one has two. */
export function normalDomain(domain: string | undefined): string {
  return domain === undefined || domain === "ai.onnx" ? "" : domain;
}

/** Returns the domains of a model's ops. Some files have nodes of domains that they do not import. */
export function domainsIn(model: Message<"Model">): Set<string> {
  const imports = [model, ...model.functions].flatMap(({ opsetImport }) => opsetImport);
  const nodes = [model.graph, ...model.functions].flatMap((one) => one?.node ?? []);
  return new Set([...imports, ...nodes].map(({ domain }) => normalDomain(domain)));
}
