// Reads TensorBoard's event files, by the published formats: TFRecord's framing, protobuf's wire format, and the fields of event.proto,
// summary.proto and graph.proto. It shares nothing with web/vis.

import assert from "node:assert/strict";
import { inflateSync } from "node:zlib";

/** CRC-32C, bit by bit. */
export function crc32c(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function masked(bytes) {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Returns the messages of a TFRecord file; fails if a checksum is wrong or bytes are left over. */
export function recordsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const records = [];
  let at = 0;
  while (at < bytes.length) {
    const length = Number(view.getBigUint64(at, true));
    assert.equal(view.getUint32(at + 8, true), masked(bytes.subarray(at, at + 8)));
    const record = bytes.subarray(at + 12, at + 12 + length);
    assert.equal(view.getUint32(at + 12 + length, true), masked(record));
    records.push(record);
    at += 16 + length;
  }
  assert.equal(at, bytes.length);
  return records;
}

/** Returns the events of a file as plain objects. */
export function eventsOf(bytes) {
  return recordsOf(bytes).map((record) => read("Event", record));
}

const text = (bytes) => new TextDecoder().decode(bytes);
const doubles = (bytes) => [...new Float64Array(bytes.slice().buffer)];
const message = (name) => (bytes) => read(name, bytes);

// By message: the number of each field, its name, how it is read, and whether it repeats.
const kMessages = {
  Event: {
    1: ["wallTime"],
    2: ["step"],
    3: ["fileVersion", text],
    4: ["graph", message("Graph")],
    5: ["summary", message("Summary")],
  },
  Summary: { 1: ["values", message("Value"), true] },
  Value: {
    1: ["tag", text],
    2: ["simpleValue"],
    4: ["image", message("Image")],
    5: ["histogram", message("Histogram")],
    8: ["tensor", message("Tensor")],
    9: ["metadata", message("Metadata")],
  },
  Image: { 1: ["height"], 2: ["width"], 3: ["colorspace"], 4: ["encoded", (bytes) => bytes] },
  Histogram: {
    1: ["min"],
    2: ["max"],
    3: ["num"],
    4: ["sum"],
    5: ["sumSquares"],
    6: ["limits", doubles],
    7: ["buckets", doubles],
  },
  Tensor: { 1: ["dtype"], 2: ["shape", message("Shape")], 8: ["strings", text, true] },
  Shape: { 2: ["dims", message("Dim"), true] },
  Dim: { 1: ["size"] },
  Metadata: { 1: ["plugin", message("Plugin")] },
  Plugin: { 1: ["name", text] },
  Graph: { 1: ["nodes", message("Node"), true], 4: ["versions", message("Versions")] },
  Versions: { 1: ["producer"] },
  Node: {
    1: ["name", text],
    2: ["op", text],
    3: ["inputs", text, true],
    4: ["device", text],
    5: ["attributes", message("Attribute"), true],
  },
  Attribute: { 1: ["key", text], 2: ["value", message("AttributeValue")] },
  AttributeValue: { 1: ["list", message("List")] },
  List: { 7: ["shapes", message("Shape"), true] },
};

function read(name, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      assert.notEqual(byte, undefined, `${name} ends too early`);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const take = (count) => {
    at += count;
    assert.ok(at <= bytes.length, `${name} ends too early`);
    return at - count;
  };
  const kWires = {
    0: varint,
    1: () => view.getFloat64(take(8), true),
    2: () => {
      const length = varint();
      return bytes.subarray(take(length), at);
    },
    5: () => view.getFloat32(take(4), true),
  };
  const found = {};
  while (at < bytes.length) {
    const tag = varint();
    const value = kWires[tag & 7]();
    const field = kMessages[name][tag >>> 3];
    assert.ok(field, `${name} has no field ${tag >>> 3}`);
    const [key, convert = (one) => one, repeats] = field;
    if (repeats) found[key] = [...(found[key] ?? []), convert(value)];
    else found[key] = convert(value);
  }
  return found;
}

/** Returns the pixels of a PNG file without filters, with its size. */
export function pixelsOf(png) {
  const view = new DataView(png.buffer, png.byteOffset, png.length);
  assert.deepEqual([...png.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
  const chunks = {};
  for (let at = 8; at < png.length; ) {
    const length = view.getUint32(at);
    chunks[text(png.subarray(at + 4, at + 8))] = png.subarray(at + 8, at + 8 + length);
    at += 12 + length;
  }
  const header = new DataView(chunks.IHDR.buffer, chunks.IHDR.byteOffset);
  const [width, height] = [header.getUint32(0), header.getUint32(4)];
  const rows = inflateSync(chunks.IDAT);
  const stride = rows.length / height;
  const pixels = Array.from({ length: height }, (_, row) => {
    assert.equal(rows[row * stride], 0);
    return [...rows.subarray(row * stride + 1, (row + 1) * stride)];
  });
  return { width, height, pixels };
}
