import { readStored } from "../ops/read.js";
import { EdgeGradError } from "../runtime/errors/errors.js";
import { bytesIn } from "../tensor/dtype.js";
import { readLater } from "../tensor/read_later.js";
import { newTensor } from "../tensor/tensor.js";
import type { StreamLike, StreamWriterLike } from "./platform_types.js";
import type { SafetensorsLayout } from "./safetensors_layout.js";
import { ranges } from "./sources/source.js";

/** Writes a file to a stream, one tensor after the other, and closes the stream; aborts it if anything fails. */
export async function writeToStream(
  where: string,
  stream: StreamLike,
  makeLayout: () => SafetensorsLayout,
): Promise<void> {
  const writer = writerOf(where, stream);
  try {
    const { header, tensors } = makeLayout();
    await writer.write(header);
    for (const { tensor } of tensors) {
      const elements = await readLater(where, tensor, newTensor, (host) => readStored(host, where));
      const bytes = bytesIn(elements);
      // In pieces, so that a stream that transforms or sends them does not need all at once.
      for (const range of ranges(0, bytes.length)) await writer.write(bytes.subarray(...range));
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw EdgeGradError.isOne(error) ? error : errorFor(where, error);
  }
}

function writerOf(where: string, stream: StreamLike): StreamWriterLike {
  try {
    return stream.getWriter();
  } catch (error) {
    throw errorFor(where, error);
  }
}

function errorFor(where: string, error: unknown): EdgeGradError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `[${where}] the stream does not take the file: ${reason}.`;
  return new EdgeGradError("InvalidArgument", message, { cause: error });
}
