// What a file is, by how it begins: people mix up formats, and servers send pages instead of files.

import { readNothing } from "../arguments/read.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isBuffer } from "../runtime/host/realm.js";

/** What a file is. */
export interface FileKind {
  /** The kind: "onnx", "safetensors", "torch", "zip", "npz", "npy", "hdf5", "gguf", "tflite", "ort", "tfjs", "json", "gzip", "html", "xml" or "git-lfs". */
  readonly name: string;
  /** A sentence that says what the file looks like, and what opens it. */
  readonly hint: string;
}

/** How much of a file fileKind() looks at. */
export const kStartBytes = 64;

/**
 * Returns what kind of file these bytes are, and what opens it; null for a kind that is not known. The first 64 bytes of a file are
 * enough. Throws InvalidArgument for anything but bytes.
 */
export function fileKind(bytes: Uint8Array | ArrayBuffer, ...rest: []): FileKind | null {
  readNothing("fileKind", rest);
  if (ArrayBuffer.isView(bytes)) return kindOf(bytes);
  if (isBuffer(bytes)) return kindOf(new Uint8Array(bytes));
  const text = `expected the bytes of a file, as a Uint8Array or an ArrayBuffer, got ${describe(bytes)}.`;
  return fail("InvalidArgument", "fileKind", text);
}

/** Throws InvalidArgument if the start of a file says that it is of a kind that is not among `accepted`. */
export function refuseOthers(
  where: string,
  start: Uint8Array,
  accepted: readonly string[] = [],
): void {
  const kind = kindOf(start);
  if (kind !== null && !accepted.includes(kind.name)) fail("InvalidArgument", where, kind.hint);
}

/** Throws InvalidArgument if a file begins like what arrives in place of a file. No format that is read here begins like this. */
export function refuseSentInstead(where: string, start: Uint8Array): void {
  const kind = kindOf(start);
  if (kind !== null && kSentInstead.has(kind.name)) fail("InvalidArgument", where, kind.hint);
}

const kSentInstead = new Set(["html", "xml", "git-lfs"]);

function kindOf(bytes: Uint8Array): FileKind | null {
  const text = Array.from(bytes.subarray(0, kStartBytes), characterOf).join("");
  for (const [name, pattern, hint] of kKinds) if (pattern.test(text)) return { name, hint };
  return null;
}

// One character for each byte. Control characters are those that show them, such as "␀" for zero.
function characterOf(byte: number): string {
  const isShown = byte < 32 && ![9, 10, 13].includes(byte);
  return String.fromCharCode(isShown ? 0x2400 + byte : byte);
}

const kAskedAgain = "Check the address, and `response.ok` before reading the bytes.";
const kToOnnx = "convert the model to ONNX with tf2onnx, and open it with load() of edgegrad/onnx.";
const kNumpy =
  "save the arrays by safetensors.numpy.save_file() in Python, and open them with io.loadSafetensors().";

/** Kinds by their beginnings, more special ones first. */
const kKinds: readonly (readonly [name: string, pattern: RegExp, hint: string])[] = [
  [
    "html",
    /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|!--)/i,
    `this looks like an HTML page, not the file: servers send one when there is nothing at an address. ${kAskedAgain}`,
  ],
  [
    "xml",
    /^(?:\xef\xbb\xbf)?\s*<\?xml/i,
    `this looks like an XML document, as stores of files send for an error. ${kAskedAgain}`,
  ],
  [
    "git-lfs",
    /^version https:\/\/git-lfs/,
    "this is a pointer of Git LFS, not the file: run `git lfs pull`, or download the file itself.",
  ],
  [
    "safetensors",
    /^.{5}␀{3}\{/s,
    "this is a safetensors file: open it with io.loadSafetensors() or io.openSafetensors().",
  ],
  ["npz", /^PK␃␄.{26}[^␀]*?\.npy/s, `this is a NumPy archive (.npz): ${kNumpy}`],
  [
    "torch",
    /^PK␃␄.{26}[^␀]*?(?:data\.pkl|\.format_version|byteorder|\/version)|^\x80␂\x8a\nl\xfc\x9cF/s,
    "this is a file of torch.save() (.pt, .pth): open it with io.loadTorch().",
  ],
  ["zip", /^PK␃␄/, "this is a zip archive: unpack it, and open the file in it."],
  ["npy", /^\x93NUMPY/, `this is a NumPy array (.npy): ${kNumpy}`],
  ["hdf5", /^\x89HDF\r\n/, `this is an HDF5 file, as Keras writes (.h5): ${kToOnnx}`],
  [
    "gguf",
    /^GGUF/,
    "this is a GGUF file of llama.cpp: open it with AutoModelForCausalLM.fromPretrained() of edgegrad/transformers.",
  ],
  ["tflite", /^.{4}TFL3/s, `this is a TensorFlow Lite model (.tflite): ${kToOnnx}`],
  [
    "ort",
    /^.{4}ORTM/s,
    "this is a model in onnxruntime's own format (.ort): open the .onnx file that it was made from with load() of edgegrad/onnx.",
  ],
  [
    "gzip",
    /^␟\x8b␈/,
    "this is compressed by gzip: decompress it first, with gunzip or a DecompressionStream.",
  ],
  [
    "tfjs",
    /^(?:\xef\xbb\xbf)?\s*\{\s*"(?:modelTopology|weightsManifest|format"\s*:\s*"(?:graph|layers)-model)"/,
    `this is a model.json of TensorFlow.js: ${kToOnnx}`,
  ],
  [
    "json",
    /^(?:\xef\xbb\xbf)?\s*[{[]\s*["{[\d\]}]/,
    "this is JSON text, such as a configuration or an index, and not a file of weights: open the file that it belongs to.",
  ],
  [
    "onnx",
    /^␈[␁-␟\t\n\r](?:[␒␚"2:B]|\(.)/s,
    "this is an ONNX model: open it with load() of edgegrad/onnx.",
  ],
];
