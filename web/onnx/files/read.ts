// Reads models from files, with tensors in external files.

import { readMessage } from "../proto/read.js";
import type { Message } from "../proto/schema.js";
import type { OpenFile, Source } from "../source.js";
import type { Apart } from "../tensors/decode.js";
import { externalTensors } from "../tensors/external_tensors.js";
import { type ExternalData, ExternalFiles, type Opener } from "./external.js";
import { readParts } from "./parts.js";
import { scanModel } from "./scan.js";

/** Returns a model, and the data that is outside of its messages; `source` is what `opener` opened the file from. */
export async function readInParts(
  file: OpenFile,
  source: Source,
  externalData: ExternalData | undefined,
  opener: Opener,
): Promise<{ model: Message<"Model">; apart: Map<Message<"Tensor">, Apart> }> {
  const { model, parts } =
    file.bytes === null
      ? await scanModel(file)
      : { model: readMessage("Model", file.bytes), parts: [] };
  const files = new ExternalFiles(externalData, source, opener);
  try {
    const all = new Map([...parts, ...(await files.partsOf(externalTensors(model)))]);
    return { model, apart: await readParts(all, model.graph?.initializer ?? []) };
  } finally {
    await files.close();
  }
}
