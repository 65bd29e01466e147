// openFolder(): the files of a folder by name, wherever it is.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { eg } from "../support/engine.mjs";
import { serveRanges } from "../support/ranges_server.mjs";

const kFiles = {
  "config.json": new TextEncoder().encode('{ "a": 1 }'),
  "model.safetensors": eg.io.saveSafetensors({ a: eg.tensor([1, 2]) }),
};

const textOf = async (folder, name) => new TextDecoder().decode(await folder.bytes(name));

async function check(source, options) {
  const folder = await eg.io.openFolder(source, options);
  assert.equal(await textOf(folder, "config.json"), '{ "a": 1 }');
  const reader = await folder.openSafetensors("model.safetensors");
  assert.deepEqual((await reader.tensor("a")).arraySync(), [1, 2]);
  await reader.close();
  const file = await folder.open("config.json");
  assert.equal(file.size, 10);
  assert.equal(new TextDecoder().decode(await file.bytes(2, 5)), '"a"');
  await file.close();
  assert.equal(await folder.open("other.json"), null);
  assert.equal(await folder.bytes("other.json"), null);
  assert.equal(await folder.openSafetensors("other.safetensors"), null);
}

describe("a folder is", () => {
  let path;
  let server;
  before(async () => {
    path = mkdtempSync(join(tmpdir(), "folder-"));
    for (const [name, bytes] of Object.entries(kFiles)) writeFileSync(join(path, name), bytes);
    const entries = Object.entries(kFiles).map(([name, bytes]) => [`sub folder/${name}`, bytes]);
    server = await serveRanges(Object.fromEntries(entries));
  });
  after(() => {
    rmSync(path, { recursive: true });
    server.stop();
  });

  test("a path in Node, with or without a slash at its end, or a URL of a file", async () => {
    await check(path);
    await check(`${path}/`);
    await check(pathToFileURL(path));
    await check(pathToFileURL(path).href);
  });

  test("an address, whose query every request has", async () => {
    const asked = [];
    const own = (url, options) => {
      asked.push(String(url));
      return fetch(url, options);
    };
    await check(`${server.url}sub folder`, { fetch: own });
    await check(new URL(`${server.url}sub folder/?key=1`), { fetch: own });
    assert.ok(asked.filter((url) => url.endsWith("?key=1")).length >= 4);
  });

  test("an object of files: bytes, Blobs and texts", async () => {
    await check(kFiles);
    await check({
      "config.json": '{ "a": 1 }',
      "model.safetensors": new Blob([kFiles["model.safetensors"]]),
    });
  });

  test("a directory that a page was given", async () => {
    const directory = {
      kind: "directory",
      async *entries() {
        yield ["nested", { kind: "directory" }];
        for (const [name, bytes] of Object.entries(kFiles)) {
          yield [name, { kind: "file", getFile: async () => new Blob([bytes]) }];
        }
      },
    };
    await check(directory);
  });
});

test("an index opens its files, also of an object with others", async () => {
  const index = JSON.stringify({ weight_map: { a: "one.safetensors" } });
  const files = {
    ...kFiles,
    "one.safetensors": kFiles["model.safetensors"],
    "x.index.json": index,
  };
  const reader = await (await eg.io.openFolder(files)).openSafetensors("x.index.json");
  assert.deepEqual((await reader.tensor("a")).arraySync(), [1, 2]);
});

test("progress is told", async () => {
  const seen = [];
  const folder = await eg.io.openFolder(kFiles, { onProgress: ({ name }) => seen.push(name) });
  await (await folder.openSafetensors("model.safetensors")).tensor("a");
  assert.deepEqual(seen, ["a"]);
});

describe("refused are", () => {
  const refuses = async (promise, pattern) =>
    assert.rejects(promise, (error) => {
      assert.ok(
        error instanceof eg.EdgeGradError && error.code === "InvalidArgument",
        String(error),
      );
      assert.match(error.message, pattern);
      return true;
    });

  test("sources of other kinds, and unknown options", async () => {
    for (const source of [undefined, null, 3, [], new Uint8Array(3), new Map()]) {
      await refuses(eg.io.openFolder(source), /a folder's path or address/);
    }
    await refuses(eg.io.openFolder(kFiles, { headers: {} }), /unknown option "headers"/);
  });

  test("names that lead out of the folder, or are of Object", async () => {
    const folder = await eg.io.openFolder(kFiles);
    for (const name of ["", ".", "..", "../x", "a/b", "a\\b", 3, undefined]) {
      await refuses(folder.bytes(name), /the name of a file in the folder/);
    }
    assert.equal(await folder.bytes("__proto__"), null);
    assert.equal(await folder.bytes("toString"), null);
  });

  test("what is no file, and pages that servers send instead", async () => {
    await refuses((await eg.io.openFolder({ a: 3 })).bytes("a"), /a Blob, the bytes of a file/);
    await refuses(
      (await eg.io.openFolder({ a: "<!doctype html>" })).bytes("a"),
      /looks like an HTML page/,
    );
  });
});
