// What the Python package knows of ops: for each its parameters with kinds and defaults, the names of its results, and its description,
// from the op table and from the lines with which composites declare themselves.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

const kSource = join(kRoot, "web", "src");

/** Returns the text of _table.py. */
export function tableOfOps() {
  const { lines, docs } = declarations();
  const text = (map) => [...map].map(([name, line]) => `${name}\t${line}`).join("\n");
  return `"""The ops of edgegrad: their parameters and their descriptions. Made by the build from what edgegrad declares."""

from functools import cache

_LINES = r"""
${text(lines)}
"""

_DOCS = r"""
${text(docs)}
"""


def _read(text: str) -> dict[str, str]:
    return dict(line.split("\\t", 1) for line in text.strip().split("\\n"))


@cache
def lines() -> dict[str, str]:
    """The marks, parameters and results of every op, by JavaScript's name."""
    return _read(_LINES)


@cache
def docs() -> dict[str, str]:
    """What every op does."""
    return _read(_DOCS)
`;
}

/** Returns what ops declare, by JavaScript's names: \`marks parameters|results\`, and descriptions; and which ops are \`internal\`. */
export function declarations() {
  const lines = new Map();
  const own = readFileSync(join(kSource, "generated", "internal.ts"), "utf8");
  const internal = new Set([...own.matchAll(/^export const (\w+)/gm)].map(([, name]) => name));
  const docs = new Map();
  const { ops } = JSON.parse(readFileSync(join(kSource, "generated", "op_table.json"), "utf8"));
  const table = new Map(ops.map((op) => [op.name, op]));
  const written = readFileSync(join(kSource, "generated", "op_lines.ts"), "utf8");
  for (const [, name, marks, params] of written.matchAll(/^(\w+):(\w*) ?(.*)$/gm)) {
    const op = table.get(name);
    if (op === undefined) continue;
    lines.set(
      op.js,
      `${marks || "-"} ${params.replaceAll("`;", "")}|${(op.results ?? []).join(" ")}`,
    );
    docs.set(op.js, op.doc);
  }
  for (const { name, line, doc } of composites()) {
    lines.set(name, `- ${line}|`);
    internal.delete(name);
    if (doc) docs.set(name, doc);
  }
  return { lines, docs, internal };
}

const kComposite =
  /(?:\/\*\* ([^\n]*?)(?: \*\/|\n(?: \*[^\n]*\n)*? \*\/)\s*)?export const \w+[^=]*= (?:\/\* @__PURE__ \*\/ )?composite(?:Factory)?(?:<[^()]*>)?\(\s*"([\w.]+)",\s*"([^"]*)"/g;

function composites() {
  const found = [];
  for (const file of readdirSync(kSource, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || !file.name.endsWith(".ts")) continue;
    const text = readFileSync(join(file.parentPath, file.name), "utf8");
    if (!text.includes("composite")) continue;
    for (const [, doc, name, line] of text.matchAll(kComposite)) found.push({ name, line, doc });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
