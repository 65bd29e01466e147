// inspect(); its implementation is loaded when it is called.

import type { OnnxDescription } from "./description.js";
import type { IsKnown } from "./files/describe.js";
import { openFile, refuseOthers } from "./open_file.js";
import { findOp, loadDomains } from "./ops/index.js";
import type { Source } from "./source.js";

const kWhere = "onnx.inspect";

/**
 * Describes an ONNX model without loading it as a module: its nodes with their attributes, the tensors that it stores, and the shapes
 * that it declares. Models that load() rejects are described too, and no external data is read. Throws InvalidArgument for damaged
 * bytes.
 */
export async function inspect(source: Source): Promise<OnnxDescription> {
  const file = await openFile(kWhere, source);
  try {
    await refuseOthers(kWhere, file);
    const bytes = file.bytes ?? (await file.read(0, file.size));
    return await (await import("./files/index.js")).describe(kWhere, bytes, knownOps);
  } finally {
    await file.close();
  }
}

async function knownOps(...needed: Parameters<typeof loadDomains>): Promise<IsKnown> {
  const domains = await loadDomains(...needed);
  return (domain, name, version) => findOp(domains.get(domain), name, version) !== undefined;
}
