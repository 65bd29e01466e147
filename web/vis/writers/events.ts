// TensorBoard's events (event.proto, summary.proto) and the TFRecord framing around them.

import type { Bytes } from "edgegrad";
import type { Histogram } from "../log/histogram.js";
import type { Picture } from "../log/picture.js";
import type { LogRecord, Place } from "../log/record.js";
import { joinBytes } from "./bytes.js";
import { checksum, kCrc32c } from "./checksum.js";
import { heatOf } from "./heat.js";
import { Message } from "./message.js";
import { pngOf } from "./png.js";

const kVersion = "brain.Event:2";
const kString = 7; // DT_STRING
const kTextPlugin = "text";

/** The field numbers that are used. */
const kEvent = { wallTime: 1, step: 2, fileVersion: 3, graph: 4, summary: 5 };
const kSummary = { value: 1 };
const kValue = { tag: 1, number: 2, image: 4, histogram: 5, tensor: 8, metadata: 9 };
const kImage = { height: 1, width: 2, channels: 3, png: 4 };
const kHistogram = { min: 1, max: 2, count: 3, sum: 4, sumOfSquares: 5, limits: 6, counts: 7 };
const kMetadata = { plugin: 1 };
const kPlugin = { name: 1 };
const kTensor = { dtype: 1, shape: 2, texts: 8 };
const kShape = { dimension: 2 };
const kDimension = { size: 1 };

/** Returns the event with which every file begins. */
export function versionEvent(): Bytes {
  return frame(eventAt(Date.now() / 1000, 0).text(kEvent.fileVersion, kVersion));
}

/** Returns the event of a graph, which is a GraphDef message. */
export function graphEvent(graph: Message): Bytes {
  return frame(eventAt(Date.now() / 1000, 0).bytes(kEvent.graph, graph.encoded()));
}

/** Returns the event of a record; a promise for an image, which is compressed. Matrices are written as images. */
export function recordEvent(record: LogRecord): Bytes | Promise<Bytes> {
  const value = new Message().text(kValue.tag, tagOf(record));
  switch (record.kind) {
    case "scalar":
      return summaryEvent(record, value.float(kValue.number, record.value));
    case "histogram":
      return summaryEvent(record, value.message(kValue.histogram, histogram(record.value)));
    case "text":
      value.message(kValue.tensor, text(record.value));
      return summaryEvent(record, value.message(kValue.metadata, pluginOf(kTextPlugin)));
    case "image":
    case "matrix":
      return image(record.kind === "image" ? record.value : heatOf(record.value)).then((made) =>
        summaryEvent(record, value.message(kValue.image, made)),
      );
  }
}

// TensorBoard's text plugin looks for this suffix.
function tagOf({ kind, tag }: LogRecord): string {
  return kind === "text" ? `${tag}/text_summary` : tag;
}

function summaryEvent({ wallTime, step }: Place, value: Message): Bytes {
  const summary = new Message().message(kSummary.value, value);
  return frame(eventAt(wallTime, step).message(kEvent.summary, summary));
}

function eventAt(wallTime: number, step: number): Message {
  return new Message().double(kEvent.wallTime, wallTime).integer(kEvent.step, step);
}

function histogram({ min, max, count, sum, sumOfSquares, limits, counts }: Histogram): Message {
  return new Message()
    .double(kHistogram.min, min)
    .double(kHistogram.max, max)
    .double(kHistogram.count, count)
    .double(kHistogram.sum, sum)
    .double(kHistogram.sumOfSquares, sumOfSquares)
    .doubles(kHistogram.limits, limits)
    .doubles(kHistogram.counts, counts);
}

async function image(picture: Picture): Promise<Message> {
  return new Message()
    .integer(kImage.height, picture.height)
    .integer(kImage.width, picture.width)
    .integer(kImage.channels, picture.channels)
    .bytes(kImage.png, await pngOf(picture));
}

function text(value: string): Message {
  const dimension = new Message().integer(kDimension.size, 1);
  const shape = new Message().message(kShape.dimension, dimension);
  return new Message()
    .integer(kTensor.dtype, kString)
    .message(kTensor.shape, shape)
    .text(kTensor.texts, value);
}

function pluginOf(name: string): Message {
  return new Message().message(kMetadata.plugin, new Message().text(kPlugin.name, name));
}

// Length, its checksum, the message, its checksum.
function frame(event: Message): Bytes {
  const message = event.encoded();
  const head = new DataView(new ArrayBuffer(12));
  head.setBigUint64(0, BigInt(message.length), true);
  head.setUint32(8, maskChecksum(new Uint8Array(head.buffer, 0, 8)), true);
  const tail = new DataView(new ArrayBuffer(4));
  tail.setUint32(0, maskChecksum(message), true);
  return joinBytes([new Uint8Array(head.buffer), message, new Uint8Array(tail.buffer)]);
}

// TFRecord masks checksums by a rotation and an addition, because a checksum of bytes that contain their own checksum detects little.
function maskChecksum(bytes: Uint8Array): number {
  const crc = checksum(kCrc32c, bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
