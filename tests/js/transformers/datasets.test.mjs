// Rows of files with examples.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadDataset } from "edgegrad/transformers";
import { parquetReadObjects } from "hyparquet";

// Two columns, `question` and `score`, of three rows.
const kParquet = Buffer.from(
  "UEFSMRUGFUIVRlwVBhUAFQYVABUEFQAAAAMHH3gEAAAAV2h5PwsAAABIb3cgIm11Y2giPwQAAABPw7k/FQYVHBUgXBUGFQAVBhUAFQQVAAAAAwcMLAEAAAACAAAA" +
    "AwAAABUEGTxIBHJvb3QVBAAVDCUCGAhxdWVzdGlvbiUAABUCJQIYBXNjb3JlABYGGRwZLCYIHBUMGRUAGRgIcXVlc3Rpb24VAhYGFmwWcCYIPDYAKARXaHk/" +
    "GAtIb3cgIm11Y2giPwAZHBUGFQAVAgAAACZ4HBUCGRUAGRgFc2NvcmUVAhYGFkYWSiZ4PDYAKAQDAAAAGAQBAAAAABkcFQYVABUCAAAAFrIBFgY2ugEAKAlo" +
    "eXBhcnF1ZXQZLBwAABwAAADBAAAAUEFSMQ==",
  "base64",
);

const kRows = [
  { question: "Why?", score: 1 },
  { question: 'How "much"?', score: 2 },
  { question: "Où?", score: 3 },
];
const asTexts = (rows) => rows.map(({ question, score }) => ({ question, score: String(score) }));

const load = (name, text, options) => loadDataset({ [name]: text }, name, options);
const refuses = (name, text, message, options) =>
  assert.rejects(load(name, text, options), { code: "InvalidArgument", message });

describe("loadDataset()", () => {
  test("reads lines of JSON, from a folder on disk too", async (t) => {
    const text = `\uFEFF${kRows.map((row) => JSON.stringify(row)).join("\r\n")}\n\n`;
    assert.deepEqual(await load("train.jsonl", text), kRows);
    const folder = await mkdtemp(join(tmpdir(), "edgegrad-rows-"));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "train.NDJSON"), text);
    assert.deepEqual(await loadDataset(folder, "train.NDJSON"), kRows);
  });

  test("reads a list of JSON", async () => {
    assert.deepEqual(await load("train.json", JSON.stringify(kRows)), kRows);
  });

  test("reads tables: quotes, line ends within them, empty fields and lines", async () => {
    const text = 'question,score\r\nWhy?,1\r\n"How ""much""?",2\n\n"Où?",3';
    assert.deepEqual(await load("train.csv", text), asTexts(kRows));
    assert.deepEqual(await load("train.tsv", text.replaceAll(",", "\t")), asTexts(kRows));
    assert.deepEqual(await load("a.csv", 'a,b,__proto__\n"1,\r\n2",,""\n'), [
      Object.fromEntries([
        ["a", "1,\r\n2"],
        ["b", ""],
        ["__proto__", ""],
      ]),
    ]);
    assert.deepEqual(await load("a.csv", "a\n1\n"), [{ a: "1" }]);
    assert.deepEqual(await load("a.csv", "a,b"), []);
  });

  test("reads Parquet by the function of hyparquet", async () => {
    const options = { parquetReadObjects };
    assert.deepEqual(await load("train.parquet", kParquet, options), kRows);
    const within = new Uint8Array(kParquet.length + 9);
    within.set(kParquet, 7);
    const view = within.subarray(7, 7 + kParquet.length);
    assert.deepEqual(await load("train.parquet", view, options), kRows);
    await refuses("train.parquet", kParquet, /Pass \{ parquetReadObjects \} of hyparquet/);
    await refuses("a.parquet", kParquet.subarray(9), /a\.parquet.*cannot be read/, options);
  });

  test("refuses what it cannot read, and says where", async () => {
    await refuses("a.txt", "a", /"a\.txt" does not end in \.csv, \.tsv, \.json, \.jsonl/);
    await refuses("constructor", "a", /does not end in/);
    await assert.rejects(loadDataset({}, "a.csv"), /there is no "a\.csv" in the folder/);
    await refuses("a.jsonl", '{"a":1}\n{', /a\.jsonl\] line 2 is not JSON/);
    await refuses("a.jsonl", '{"a":1}\n[1]', /line 2: expected an object, got \[1\]/);
    await refuses("a.json", '{"a":1}', /expected a list of objects/);
    await refuses("a.json", "[null]", /element 0: expected an object, got null/);
    await refuses("a.csv", "", /no line with names/);
    await refuses("a.csv", "a,b,a\n1,2,3", /two columns have the name "a"/);
    await refuses("a.csv", 'a,b\n"1\n2",3\n4', /line 4 has 1 fields, and the first 2/);
    await refuses("a.csv", 'a\n"1', /line 2: a quote does not end/);
    await refuses("a.csv", 'a\n"1" 2', /line 2: there is text after the end of a quote/);
    await refuses("a.csv", new Uint8Array([0xff, 0xfe, 0x41]), /is not UTF-8/);
    await refuses("a.csv", "a", /unknown option "seperator"/, { seperator: ";" });
  });

  test("reads a field of megabytes", async () => {
    const long = '""'.repeat(2 ** 20);
    const [{ a }] = await load("a.csv", `a\n"${long}"`);
    assert.equal(a.length, 2 ** 20);
  });
});
