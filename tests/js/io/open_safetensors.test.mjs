// Safetensors files that are read in parts, from every kind of source.

import assert from "node:assert/strict";
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, mock, test } from "node:test";
import { pathToFileURL } from "node:url";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import { serveRanges } from "../support/ranges_server.mjs";

const { loadSafetensors, openSafetensors, saveSafetensors } = eg.io;

const folder = mkdtempSync(join(tmpdir(), "edgegrad-safetensors-"));
after(() => rmSync(folder, { recursive: true }));

const tensors = {
  a: eg.arange(24).reshape([2, 3, 4]),
  "b.weight": eg.arange(6, { dtype: "float32" }),
  half: eg.tensor([1.5, -2]).half(),
  flags: eg.tensor([true, false, true]),
  scalar: eg.tensor(3),
  empty: eg.zeros([0, 2]),
};
const bytes = saveSafetensors(tensors, { metadata: { format: "pt" } });
const path = join(folder, "model.safetensors");
writeFileSync(path, bytes);

/** Serves files during a function. */
async function serving(files, options, use) {
  const server = await serveRanges(files, options);
  try {
    return await use(server);
  } finally {
    server.stop();
  }
}

/** Calls a function and returns the warnings that it showed. */
async function warningsOf(run) {
  const warn = mock.method(console, "warn", () => {});
  try {
    await run();
    return warn.mock.calls.map(({ arguments: [message] }) => message);
  } finally {
    warn.mock.restore();
  }
}

async function assertReads(source) {
  const file = await openSafetensors(source);
  const whole = loadSafetensors(bytes);
  assert.deepEqual(file.metadata, { format: "pt" });
  assert.deepEqual([...file.keys].sort(), Object.keys(tensors).sort());
  for (const key of file.keys) {
    const tensor = await file.tensor(key);
    assert.equal(tensor.dtype, whole[key].dtype);
    assert.deepEqual(tensor.shape, whole[key].shape);
    assert.deepEqual(tensor.tolist(), whole[key].tolist());
    assert.equal((await file.info(key)).dtype, tensor.dtype);
  }
  assert.deepEqual(
    (await file.slice("a", 1, [0, 2])).tolist(),
    whole.a.at(1, eg.slice(0, 2)).tolist(),
  );
  await file.close();
  await assertRejects(file.tensor("a"), "Disposed", /closed/);
}

describe("openSafetensors reads", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  const kSources = {
    bytes,
    "a buffer": bytes.buffer,
    "shared bytes": shared,
    "a Blob": new Blob([bytes]),
    "a File": new File([bytes], "model.safetensors"),
    "a path": path,
    "the address of a file": pathToFileURL(path),
    "the address of a file as text": pathToFileURL(path).href,
    "a file by name": { "model.safetensors": new Blob([bytes]) },
  };
  for (const [name, source] of Object.entries(kSources)) test(name, () => assertReads(source));

  test("an address", () =>
    serving({ "model.safetensors": bytes }, {}, async ({ url, requests }) => {
      await assertReads(new URL("model.safetensors", url));
      // The file is smaller than what the first request asks for.
      assert.deepEqual(requests, ["bytes=0-65535"]);
    }));
});

describe("from an address", () => {
  const large = saveSafetensors({ x: eg.arange(1e5, { dtype: "float32" }), y: eg.ones([1e5]) });
  const files = { large };

  test("only what is asked for is requested", () =>
    serving(files, {}, async ({ url, requests }) => {
      const file = await openSafetensors(`${url}large`);
      assert.deepEqual((await file.slice("y", [99_998, null])).tolist(), [1, 1]);
      assert.equal(requests.length, 2);
      const [start, end] = requests[1].match(/\d+/g).map(Number);
      assert.equal(end - start, 7);
      assert.ok(eg.equal(await file.tensor("x"), eg.arange(1e5, { dtype: "float32" })));
    }));

  test("a server that hides the size is asked for it", () =>
    serving(files, { hidesTotal: true }, async ({ url, requests }) => {
      const file = await openSafetensors(`${url}large`);
      assert.equal((await file.tensor("y")).sum().item(), 1e5);
      assert.deepEqual(requests.slice(0, 2), ["bytes=0-65535", "HEAD"]);
    }));

  for (const options of [{ ignoresRanges: true }, { hidesTotal: true, refusesHead: true }]) {
    test(`a server with ${JSON.stringify(options)} sends the whole file, which is said once`, () =>
      serving(files, options, async ({ url, requests }) => {
        const warnings = await warningsOf(async () => {
          const file = await openSafetensors(`${url}large`);
          assert.equal((await file.tensor("y")).sum().item(), 1e5);
          assert.equal((await file.slice("x", [0, 2])).sum().item(), 1);
        });
        assert.equal(warnings.length, 1);
        assert.match(warnings[0], /openSafetensors.*does not send ranges/);
        assert.ok(requests.length <= 3);
      }));
  }

  test("a server that stops sending ranges later is asked once more", async () => {
    const options = {};
    await serving(files, options, async ({ url }) => {
      const file = await openSafetensors(`${url}large`);
      options.ignoresRanges = true;
      const warnings = await warningsOf(async () => {
        assert.equal((await file.tensor("y")).sum().item(), 1e5);
        assert.equal((await file.tensor("y")).sum().item(), 1e5);
      });
      assert.equal(warnings.length, 1);
    });
  });

  test("a file that has changed is not mixed with what was read before", async () => {
    let version = '"1"';
    await serving(files, { version: () => version }, async ({ url }) => {
      const file = await openSafetensors(`${url}large`);
      version = '"2"';
      await assertRejects(file.tensor("y"), "InvalidArgument", /has changed/);
    });
  });

  test("a connection that ends is an error, and leaves no tensor", () =>
    serving(files, { endsEarly: true }, async ({ url }) => {
      const file = await openSafetensors(`${url}large`);
      await collectGarbage();
      const handles = eg.memory().jsHandles;
      await assertRejects(file.tensor("y"), "InvalidArgument", /cannot be read|ended .* early/);
      assert.equal(eg.memory().jsHandles, handles);
    }));

  test("answers of errors and servers that are not there are named", () =>
    serving({}, {}, async ({ url, stop }) => {
      await assertRejects(openSafetensors(`${url}x`), "InvalidArgument", /x answered 404/);
      stop();
      await assertRejects(openSafetensors(`${url}x`), "InvalidArgument", /cannot be read/);
    }));

  test("a page that came instead of the file is recognized", () =>
    serving({ x: "<!doctype html>" }, {}, async ({ url }) => {
      await assertRejects(openSafetensors(`${url}x`), "InvalidArgument", /HTML page/);
    }));

  test("requests are made by the given function", () =>
    serving(files, {}, async ({ url }) => {
      const asked = [];
      const request = (address, options) => {
        asked.push(options.headers.Range);
        return fetch(address, { ...options, headers: { ...options.headers, authorization: "x" } });
      };
      await openSafetensors(`${url}large`, { fetch: request });
      assert.deepEqual(asked, ["bytes=0-65535"]);
    }));
});

describe("an index", () => {
  const first = saveSafetensors({ a: eg.ones([2]) });
  const second = saveSafetensors({ b: eg.zeros([3]) });
  const index = JSON.stringify({
    metadata: { total_size: 20, format: "pt" },
    weight_map: { a: "m-1.safetensors", b: "m-2.safetensors" },
  });
  const files = {
    "m.index.json": Buffer.from(index),
    "m-1.safetensors": first,
    "m-2.safetensors": second,
  };
  for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), data);

  async function assertBoth(file) {
    assert.deepEqual(file.keys, ["a", "b"]);
    assert.equal(file.metadata.total_size, "20");
    assert.deepEqual((await file.tensor("b")).tolist(), [0, 0, 0]);
    assert.deepEqual((await file.tensor("a")).tolist(), [1, 1]);
    await file.close();
  }

  test("at a path opens the files beside it", async () => {
    await assertBoth(await openSafetensors(join(folder, "m.index.json")));
    await assertBoth(await openSafetensors(pathToFileURL(join(folder, "m.index.json"))));
  });

  test("at an address requests each file when it is needed", () =>
    serving(files, {}, async ({ url, requests }) => {
      const file = await openSafetensors(`${url}m.index.json?key=1`);
      assert.equal(requests.length, 1);
      await assertBoth(file);
      assert.equal(requests.length, 3);
    }));

  test("among files by name", async () => {
    const blobs = Object.entries(files).map(([name, data]) => [name, new Blob([data])]);
    await assertBoth(await openSafetensors(Object.fromEntries(blobs)));
  });

  test("says what is missing", async () => {
    const file = await openSafetensors({ "m.index.json": files["m.index.json"] });
    await assertRejects(file.tensor("a"), "InvalidArgument", /m-1\.safetensors.*missing/);
    const alone = await openSafetensors(new Blob([index]));
    await assertRejects(alone.tensor("a"), "InvalidArgument", /Pass all files by name/);
    const swapped = { ...files, "m-1.safetensors": second };
    const wrong = await openSafetensors(swapped);
    await assertRejects(wrong.tensor("a"), "InvalidArgument", /no tensor "a", though/);
    await assertRejects(openSafetensors({ a: first, b: second }), "InvalidArgument", /index\.json/);
  });

  for (const name of [
    "../secret",
    "/etc/passwd",
    "a\\b",
    "c:x",
    "..",
    "",
    5,
    null,
    "https://x/y",
  ]) {
    test(`does not lead to ${JSON.stringify(name)}`, async () => {
      const hostile = Buffer.from(JSON.stringify({ weight_map: { a: name } }));
      await assertRejects(openSafetensors(hostile), "InvalidArgument", /the index names/);
    });
  }

  test("that is no index is refused", async () => {
    for (const text of [
      '{"a": 1}',
      '{"weight_map": []}',
      '{"a"',
      '{"weight_map": {"a": "x", "a": "y"}}',
    ]) {
      await assertRejects(openSafetensors(Buffer.from(text)), "InvalidArgument", /invalid file/);
    }
  });
});

describe("slice", () => {
  const x = eg.arange(5 * 7 * 3 * 4).reshape([5, 7, 3, 4]);
  const file = openSafetensors(saveSafetensors({ x }));
  const all = eg.slice();
  const kSlices = [
    [[], []],
    [[2], [2]],
    [
      [-1, [1, 3]],
      [-1, eg.slice(1, 3)],
    ],
    [
      [null, 3],
      [all, 3],
    ],
    [
      [null, null, null, 0],
      [all, all, all, 0],
    ],
    [
      [
        [1, 4],
        [2, 5],
        [0, 2],
        [1, 3],
      ],
      [eg.slice(1, 4), eg.slice(2, 5), eg.slice(0, 2), eg.slice(1, 3)],
    ],
    [
      [eg.slice(-2), null, eg.slice(null, -1)],
      [eg.slice(-2), all, eg.slice(null, -1)],
    ],
    [[[3, 100]], [eg.slice(3, 100)]],
    [[[4, 2]], [eg.slice(4, 2)]],
    [
      [1, 2, 0, 3],
      [1, 2, 0, 3],
    ],
  ];
  for (const [ranges, index] of kSlices) {
    test(`of ${JSON.stringify(ranges)} is what at() returns`, async () => {
      const part = await (await file).slice("x", ...ranges);
      assert.deepEqual(part.shape, x.at(...index).shape);
      assert.deepEqual(part.tolist(), x.at(...index).tolist());
    });
  }

  test("refuses what is no range", async () => {
    const opened = await file;
    const bad = [
      [[1]],
      [[1, 2, 3]],
      ["1"],
      [1.5],
      [[0.5, 2]],
      [eg.slice(0, 4, 2)],
      [undefined, "a"],
      [true],
    ];
    for (const ranges of bad)
      await assertRejects(opened.slice("x", ...ranges), "InvalidArgument", /\[slice\] dimension/);
    await assertRejects(opened.slice("x", 5), "IndexOutOfRange", /position 5/);
    await assertRejects(opened.slice("x", 0, 0, 0, 0, 0), "InvalidArgument", /5 ranges/);
    await assertRejects(opened.slice("y"), "InvalidArgument", /no tensor "y"/);
    await assertRejects(opened.slice("x", 0, { dtyp: "int32" }), "InvalidArgument", /dtype/);
  });
});

describe("tensor", () => {
  test("has the device and dtype that are asked for, and tells its progress", async () => {
    const seen = [];
    const file = await openSafetensors(new Blob([bytes]), {
      onProgress: (event) => seen.push(event),
    });
    const x = await file.tensor("half", { dtype: "float64", device: "cpu" });
    assert.deepEqual([x.dtype, x.tolist()], ["float64", [1.5, -2]]);
    assert.deepEqual(seen, [{ name: "half", loaded: 4, total: 4 }]);
    assert.equal((await file.slice("half", 0, { dtype: "float32" })).dtype, "float32");
    await assertRejects(file.tensor("half", { dtype: "f32" }), "InvalidArgument", /float32/);
    await assertRejects(file.tensor("nothing"), "InvalidArgument", /no tensor "nothing"/);
    await assertRejects(file.tensor(), "InvalidArgument", /name/);
  });

  test("what onProgress throws reaches the caller", async () => {
    const failure = new Error("stop");
    const file = await openSafetensors(bytes, {
      onProgress: () => {
        throw failure;
      },
    });
    await collectGarbage();
    const handles = eg.memory().jsHandles;
    await assert.rejects(file.tensor("a"), (error) => error === failure);
    assert.equal(eg.memory().jsHandles, handles);
  });
});

test("a file of 2 GB opens at once, and one tensor does not bring the others along", async () => {
  const header = Buffer.from(
    JSON.stringify({
      large: { dtype: "F32", shape: [500, 1000, 1000], data_offsets: [0, 2e9] },
      small: { dtype: "F32", shape: [2], data_offsets: [2e9, 2e9 + 8] },
    }),
  );
  const name = join(folder, "large.safetensors");
  const descriptor = openSync(name, "w");
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  writeSync(descriptor, Buffer.concat([size, header]));
  // A hole, which takes no room on the disk.
  ftruncateSync(descriptor, 8 + header.length + 2e9);
  writeSync(
    descriptor,
    Buffer.from(new Float32Array([1, 2]).buffer),
    0,
    8,
    8 + header.length + 2e9,
  );
  closeSync(descriptor);
  const before = process.memoryUsage().rss;
  const file = await openSafetensors(name);
  assert.deepEqual((await file.tensor("small")).tolist(), [1, 2]);
  assert.deepEqual((await file.slice("large", [0, 2], 5, [0, 3])).tolist(), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
  assert.ok(process.memoryUsage().rss - before < 100e6);
  await file.close();
});

test("openSafetensors refuses what is no source", async () => {
  for (const source of [undefined, null, 5, [bytes], new Map(), () => bytes, new Response("x")])
    await assertRejects(openSafetensors(source), "InvalidArgument", /^\[openSafetensors\] source/);
  await assertRejects(openSafetensors({}), "InvalidArgument", /files given are none/);
  await assertRejects(openSafetensors({ a: 5 }), "InvalidArgument", /source/);
  await assertRejects(openSafetensors(join(folder, "nothing")), "InvalidArgument", /ENOENT/);
  await assertRejects(openSafetensors(folder), "InvalidArgument", /not a file/);
  await assertRejects(openSafetensors(bytes, { onprogress: 1 }), "InvalidArgument", /onProgress/);
  await assertRejects(openSafetensors(bytes.slice(0, 100)), "InvalidArgument", /invalid file/);
});
