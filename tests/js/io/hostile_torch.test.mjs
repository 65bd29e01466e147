// Files that no torch.save has written: nothing in them is run, and each is refused by a sentence that says why.

import { describe, test } from "node:test";
import { assertRejects } from "../support/assert.mjs";
import { cpuSeconds } from "../support/cpu_time.mjs";
import { eg } from "../support/engine.mjs";
import {
  archive,
  bytesOf,
  integer,
  pickle,
  tensorOpcodes,
  text,
  zip,
} from "../support/torch_files.mjs";

const { loadTorch } = eg.io;

const kFloats = Buffer.from(new Float32Array(4).buffer);
const ofPickle = (...parts) => archive(pickle(...parts), [kFloats]);
const ofTensor = (geometry, storages = [kFloats]) =>
  archive(pickle(tensorOpcodes(geometry)), storages);
const called = (name, ...args) => ofPickle(`c${name}\n(`, ...args, "tR");
const legacy = (...pickles) => Buffer.concat(pickles);
const kMagic = pickle("\x8a\x0a", [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]);
const kVersion = pickle("M", [0xe9, 0x03]);
const kMachine = pickle("}", text("little_endian"), "\x88s");

const kRefused = {
  "an empty file": [new Uint8Array(0), /format/],
  "a text": [Buffer.from("hello world, not a checkpoint"), /format of torch\.save/],
  "a page of a server": [Buffer.from("<!doctype html><html>"), /HTML page/],
  "a tar archive": [Buffer.concat([Buffer.alloc(257), Buffer.from("ustar")]), /tar archive/],
  "a truncated archive": [bytesOf("training").slice(0, 2000), /truncated/],
  "a truncated older file": [bytesOf("training_legacy").slice(0, 2000), /truncated/],
  "an archive of something else": [
    zip([{ name: "word/document.xml", data: "x" }]),
    /not one of torch/,
  ],
  "two values": [
    zip(["a/data.pkl", "b/data.pkl"].map((name) => ({ name, data: pickle("N") }))),
    /one data\.pkl/,
  ],
  "a TorchScript program": [
    zip(["a/data.pkl", "a/constants.pkl"].map((name) => ({ name, data: pickle("N") }))),
    /TorchScript.*state_dict/,
  ],
  "a big-endian file": [
    zip([
      { name: "a/data.pkl", data: pickle("N") },
      { name: "a/byteorder", data: "big" },
    ]),
    /byte order.*big/,
  ],
  "an older big-endian file": [
    legacy(kMagic, kVersion, pickle("}", text("little_endian"), "\x89s"), pickle("N"), pickle("]")),
    /little-endian/,
  ],
  "another version": [legacy(kMagic, pickle("M", [0xea, 3]), kMachine), /version 1002/],
  "an older file that begins with a call": [pickle("cposix\nsystem\n"), /more than numbers/],

  "a function of Python": [called("posix\nsystem", text("echo")), /posix\.system.*not allowed/],
  "eval()": [called("builtins\neval", text("1")), /builtins\.eval.*not allowed/],
  "getattr() by its name in Python 2": [called("__builtin__\ngetattr", "N"), /builtins\.getattr/],
  "a name with dots": [
    ofPickle(text("collections"), text("OrderedDict.fromkeys"), "\x93"),
    /fromkeys/,
  ],
  "a name from nowhere": [ofPickle("K\x01K\x02\x93"), /without a name/],
  "a whole model": [called("torch.nn.modules.container\nSequential"), /Sequential.*state_dict/],
  "a class of the file's own": [called("__torch__.Net\nNet"), /__torch__\.Net.*code/],
  "a sparse tensor without parts": [
    called("torch._utils\n_rebuild_sparse_tensor", text("torch.sparse_coo")),
    /sparse tensor whose parts or size are invalid/,
  ],
  "a sparse tensor in another layout": [
    called("torch._utils\n_rebuild_sparse_tensor", text("torch.sparse_bsr")),
    /layout "torch.sparse_bsr".*to_sparse/,
  ],
  "an old sparse tensor": [called("torch._utils\n_rebuild_sparse_csr_tensor"), /old form/],
  "a quantized tensor": [called("torch._utils\n_rebuild_qtensor"), /quantized.*dequantize/],
  "a nested tensor": [called("torch._utils\n_rebuild_nested_tensor"), /nested/],
  "a tensor without data": [called("torch._utils\n_rebuild_meta_tensor_no_storage"), /meta/],
  "an array of NumPy": [called("numpy.core.multiarray\n_reconstruct"), /NumPy/],
  "an element type from elsewhere": [ofTensor({ storage: "torch\nQInt8Storage" }), /QInt8Storage/],
  "a type as a value": [ofPickle("ccollections\nOrderedDict\n"), /OrderedDict itself/],
  "a storage as a value": [
    ofPickle(
      "(",
      text("storage"),
      "ctorch\nFloatStorage\n",
      text("0"),
      text("cpu"),
      integer(4),
      "tQ",
    ),
    /storage outside of a tensor/,
  ],
  "attributes of a list": [ofPickle("]}b"), /attributes/],
  "a call of a string": [ofPickle(text("posix.system"), ")R"), /not a function/],
  "a call without arguments": [ofPickle("ctorch\nSize\nNR"), /tuple of arguments/],
  "a call of a type": [ofPickle("cbuiltins\nint\n)R"), /builtins\.int/],
  "an extension": [ofPickle("\x82\x01"), /opcode 0x82/],
  "an instance of a class": [ofPickle("(iposix\nsystem\n"), /opcode 0x69/],
  "a persistent id of text": [ofPickle("Pabc\n"), /opcode 0x50/],
  "a future protocol": [archive(Buffer.from([0x80, 9, 0x4e, 0x2e])), /protocol 9/],

  "an empty pickle": [archive(Buffer.alloc(0)), /truncated/],
  "a pickle without an end": [archive(Buffer.from([0x80, 2, 0x4e])), /truncated/],
  "a pickle of nothing": [ofPickle(""), /stack/],
  "a string beyond the end": [ofPickle("X\xff\xff\xff\xff"), /truncated/],
  "a string of 2^63 bytes": [ofPickle("\x8d\0\0\0\0\0\0\0\x80"), /truncated/],
  "a string that is not UTF-8": [ofPickle("X\x01\0\0\0\xff"), /UTF-8/],
  "a reference to nothing": [ofPickle("h\x07"), /unknown object 7/],
  "a mark too few": [ofPickle("t"), /stack/],
  "a key without a value": [ofPickle("}(K\x01u"), /without a value/],
  "items of a number": [ofPickle("K\x01(K\x01K\x02u"), /not a dict/],
  "elements of a dict": [ofPickle("}(K\x01e"), /not a list/],
  "deep nesting": [ofPickle("]".repeat(100_000), "a".repeat(99_999)), /nested deeper/],
  "deep nesting of tuples": [ofPickle("N", "\x85".repeat(100_000)), /nested deeper/],
  "a number of ten million digits": [ofPickle(`L${"9".repeat(10_000_000)}L\n`), /too long/],
  "a number of a megabyte": [
    ofPickle("\x8b\0\0\x10\0", Buffer.alloc(2 ** 20, 0x7f)),
    /1048576 bytes/,
  ],
  "many copies of one string": [
    ofPickle(
      "c_codecs\nencode\nq\0",
      text("a".repeat(1e5)),
      "q\x01",
      text("latin1"),
      "q\x02",
      "h\0h\x01h\x02\x86R".repeat(1000),
    ),
    /copies its values too often/,
  ],
  "many copies of one list": [
    ofPickle("ctorch\nSize\nq\0](", "N".repeat(1e5), "e\x85q\x01", "h\0h\x01R".repeat(1000)),
    /copies its values too often/,
  ],
  "bytes above 255": [called("_codecs\nencode", text("\u0100"), text("latin1")), /above 255/],

  "a storage that is missing": [ofTensor({ key: "7" }), /storage "7" is missing/],
  "a storage of another file": [ofTensor({ key: "../../data/0" }), /missing/],
  "a storage that is too small": [
    ofTensor({ count: 2 ** 40 }, [kFloats]),
    /16 bytes, and its tensors need/,
  ],
  "a storage with half an element": [ofTensor({}, [Buffer.alloc(15)]), /15 bytes/],
  "a tensor beyond its storage": [ofTensor({ offset: 1 }), /beyond the end/],
  "strides beyond the storage": [ofTensor({ shape: [2, 2], strides: [3, 1] }), /beyond the end/],
  "negative strides": [ofTensor({ offset: 3, strides: [-1] }), /strides are invalid/],
  "a negative offset": [ofTensor({ offset: -1 }), /invalid/],
  "a negative size": [ofTensor({ shape: [-1] }), /invalid/],
  "more strides than sizes": [ofTensor({ strides: [1, 1] }), /invalid/],
  "sizes whose product overflows": [
    ofTensor({ shape: [2 ** 40, 2 ** 40], strides: [0, 0] }),
    /too large/,
  ],
  "too many dimensions": [
    ofTensor({ shape: Array(65).fill(1), strides: Array(65).fill(1) }),
    /sizes or strides are invalid/,
  ],
  "sizes that are no numbers": [ofPickle(tensorOpcodes().subarray(0, -40), "NNtR"), /./],
  "one storage of two types": [
    archive(pickle("(", tensorOpcodes(), tensorOpcodes({ storage: "torch\nIntStorage" }), "t"), [
      kFloats,
    ]),
    /two sizes or element types/,
  ],
  "integers that require gradients": [
    ofTensor({ storage: "torch\nIntStorage", requiresGrad: "\x88" }),
    /./,
  ],
};

describe("loadTorch refuses", () => {
  for (const [name, [bytes, message]] of Object.entries(kRefused)) {
    test(name, async () => {
      const handles = eg.memory().jsHandles;
      const start = cpuSeconds();
      const code =
        name === "integers that require gradients" ? "NotDifferentiable" : "InvalidArgument";
      await assertRejects(loadTorch(bytes), code, message);
      if (cpuSeconds() - start > 5) throw new Error("it took more than 5 s");
      // Garbage of other tests may have been collected.
      if (eg.memory().jsHandles > handles) throw new Error("it left tensors behind");
    });
  }
});

describe("loadTorch refuses an archive", () => {
  const value = { name: "a/data.pkl", data: pickle("N") };
  const other = { name: "a/version", data: "3\n" };
  const kArchives = {
    "with a file twice": [[value, value], /twice/],
    "whose files share bytes": [[value, { ...other, start: 0 }], /overlaps/],
    "with a file beyond its end": [[{ ...value, size: 1e6, packedSize: 1e6 }], /overlaps/],
    "with another size than its data": [[{ ...value, size: 3 }], /two sizes/],
    "with a wrong checksum": [[{ ...value, checksum: 1 }], /checksum/],
    "that is encrypted": [[{ ...value, flags: 1 }], /encrypted/],
    "of an unknown compression": [[{ ...value, method: 12 }], /method 12/],
    "with a file that starts elsewhere": [[{ ...value, start: 1 }, other], /overlaps|is not where/],
    "that grows a thousandfold": [
      [{ ...value, data: Buffer.alloc(1e7), isDeflated: true }],
      /more than 4 times/,
    ],
    "that grows more than it says": [
      [{ ...value, data: Buffer.alloc(1e7), size: 100, isDeflated: true }],
      /does not have the size/,
    ],
    "whose compressed data is damaged": [
      [{ ...value, method: 8, packedSize: value.data.length, size: 3 }],
      /compressed data is damaged|does not have the size/,
    ],
  };
  for (const [name, [files, message]] of Object.entries(kArchives)) {
    test(name, () => assertRejects(loadTorch(zip(files)), "InvalidArgument", message));
  }
});
