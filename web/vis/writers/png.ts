// Writes PNG files. The platform compresses (CompressionStream, in Node too).

import type { Bytes } from "edgegrad";
import type { Picture } from "../log/picture.js";
import { joinBytes } from "./bytes.js";
import { checksum, kCrc32 } from "./checksum.js";

const kSignature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const kColorTypes = { 1: 0, 3: 2, 4: 6 } as const;

/** Returns an image as a PNG file. */
export async function pngOf({ height, width, channels, data }: Picture): Promise<Bytes> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8; // bits of a channel
  header[9] = kColorTypes[channels];
  // Every row begins with its filter type; 0 means no filter.
  const stride = width * channels;
  const rows = new Uint8Array(height * (stride + 1));
  for (let row = 0; row < height; row++)
    rows.set(data.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1);
  const pixels = await deflate(rows);
  return joinBytes([
    kSignature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

async function deflate(bytes: Bytes): Promise<Bytes> {
  const source = new Blob([bytes]).stream();
  const stream = source.pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chunk(name: string, content: Uint8Array): Bytes {
  const named = joinBytes([new TextEncoder().encode(name), content]);
  const ends = new DataView(new ArrayBuffer(8));
  ends.setUint32(0, content.length);
  ends.setUint32(4, checksum(kCrc32, named));
  const bytes = new Uint8Array(ends.buffer);
  return joinBytes([bytes.subarray(0, 4), named, bytes.subarray(4)]);
}
