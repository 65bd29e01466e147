// A server answers with a page when there is nothing at an address, and programs pass that page on: every reader of files says so.

import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kReaders = {
  load: eg.io.load,
  loadSafetensors: eg.io.loadSafetensors,
  readSafetensorsMetadata: eg.io.readSafetensorsMetadata,
  idx: eg.data.idx,
};

const kHtml = /this looks like an HTML page.*response\.ok/;

const kSent = [
  ["a page", "<!doctype html>\n<html><head><title>404</title></head></html>", kHtml],
  ["a page in capitals, after a blank line", "\r\n<!DOCTYPE HTML PUBLIC>", kHtml],
  ["a page after a byte order mark", "\uFEFF  <html lang=en>", kHtml],
  ["a page of a few letters", "<html>", kHtml],
  ["the error of a store", '<?xml version="1.0"?><Error><Code>NoSuchKey</Code>', /XML document/],
  ["a pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:1", /git lfs pull/],
];

for (const [reader, read] of Object.entries(kReaders)) {
  describe(reader, () => {
    for (const [what, text, message] of kSent) {
      test(`says that it got ${what}`, () => {
        const bytes = new TextEncoder().encode(text);
        for (const given of [bytes, bytes.buffer, new Uint8Array([1, ...bytes]).subarray(1)]) {
          assertThrows(() => read(given), "InvalidArgument", message);
        }
        const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
        shared.set(bytes);
        assertThrows(() => read(shared), "InvalidArgument", message);
      });
    }

    test("says what to do with a response or a blob", () => {
      for (const source of [new Response("x"), new Blob(["x"])]) {
        assertThrows(() => read(source), "InvalidArgument", /Pass `await it\.arrayBuffer\(\)`\./);
      }
      assertThrows(() => read([1]), "InvalidArgument", /got \[1\]\.$/);
    });
  });
}
