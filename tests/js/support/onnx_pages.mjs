// The tables of the guide that list what load() and save() of edgegrad/onnx support.

import { save, supportedOps } from "edgegrad/onnx";
import { compositeTable } from "./composite_samples.mjs";
import { kRoot } from "./files.mjs";
import { kHidden, programOf } from "./onnx_samples.mjs";
import { opTable, samplesOf } from "./op_samples.mjs";

/** The pages with these tables, and the name of the part that has the table. */
export const kLoadPage = { path: `${kRoot}docs/guide/onnx.md`, part: "ops that load" };
export const kSavePage = { path: `${kRoot}docs/guide/onnx_export.md`, part: "ops that save" };

/** Opsets up to this one are read completely, so that only later ops need their version. */
const kOldest = 7;

/** Returns the table of the ops that load() supports. */
export async function loadTable() {
  const rows = new Map();
  for (const { domain, name, since } of await supportedOps()) {
    const row = domain === "ai.onnx" ? `\`${domain}\`, ${name[0]}` : `\`${domain}\``;
    const version = domain === "ai.onnx" && since > kOldest ? ` (${since})` : "";
    rows.set(row, [...(rows.get(row) ?? []), `\`${name}\`${version}`]);
  }
  return tableOf("domain", rows);
}

/** The names that programs have for ops with internal ones. */
const kPublicNames = { slice: "at", index: "at", indexPut_: "set_" };

/** The ops and the functions composed of ops of which save() could have a form. */
export const kSaveable = [...opTable.filter(({ js }) => !kHidden.test(js)), ...compositeTable];

/** Returns the name by which the table lists an op: in-place forms are those of the op without the underscore. */
export function listedName({ js }) {
  const base = js.replace(/_$/, "");
  const hasBase = base !== js && opTable.some((op) => op.js === base);
  // bernoulli_() is not the in-place form of bernoulli(), but draws with a given probability.
  return kPublicNames[js] ?? (hasBase && js !== "bernoulli_" ? base : js);
}

/** Returns the table of the ops that save() writes: those whose listed name fulfils a condition. */
export function saveTable(isSaved) {
  const rows = new Map();
  for (const op of kSaveable) {
    const name = listedName(op);
    if (!isSaved(name)) continue;
    rows.set(op.family, (rows.get(op.family) ?? new Set()).add(`\`${name}\``));
  }
  return tableOf("topic", rows);
}

/** Returns the names in the table of a page. */
export function namesIn(table) {
  return new Set([...table.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
}

/** Returns the listed names of all ops of which save() writes a sample. */
export async function savedNames() {
  const names = new Set();
  for (const op of kSaveable) {
    if (!names.has(listedName(op)) && (await hasForm(op))) names.add(listedName(op));
  }
  return names;
}

async function hasForm(op) {
  for (const sample of samplesOf(op)) {
    const made = programOf(op, sample);
    if (made === null) continue;
    const isSaved = await withoutReading(() => save(made.program, { inputs: made.inputs }));
    if (isSaved) return true;
  }
  return false;
}

// False for a call without a form, and for one that reads values into JavaScript, of which save() warns: these are constants then.
async function withoutReading(call) {
  const { warn } = console;
  let hasWarned = false;
  console.warn = () => {
    hasWarned = true;
  };
  try {
    await call();
    return !hasWarned;
  } catch (error) {
    if (kNoForm.test(error.message)) return false;
    throw error;
  } finally {
    console.warn = warn;
  }
}

/** What save() says of ops without a form. */
export const kNoForm = /ONNX has no form of/;

function tableOf(head, rows) {
  const lines = [...rows].map(([first, names]) => `| ${first} | ${[...names].join(" ")} |\n`);
  return `\n| ${head} | ops |\n|---|---|\n${lines.join("")}\n`;
}
