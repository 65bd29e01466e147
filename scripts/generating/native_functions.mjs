// Writes web/src/generated/native_functions.ts: the functions that the module exports, as TypeScript calls them. Their declarations are in
// bindings/*.cpp: EG_EXPORT("name") before a function of numbers, or emscripten::function("eg_name", ...) for one with texts. The comment
// above the function is its documentation.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

const kFile = join(kRoot, "web", "src", "generated", "native_functions.ts");
const kHead = `// Written by scripts/generating/native_functions.mjs (npm run generate). Do not edit.

/**
 * The functions that the module exports; runtime/bridge/native.ts explains their arguments and results. On error they return kFailed, except
 * those without a result. Booleans may be passed to C++; results are 1 or 0.
 */
export interface NativeFunctions {
`;

const kComment = String.raw`(?<comment>(?:^// .*\n)*)`;
const kDeclaration = String.raw`(?<result>[\w:]+\*?) (?<own>\w+)\((?<params>[^)]*)\)`;
const kExport = new RegExp(`${kComment}^EG_EXPORT\\("(?<name>\\w+)"\\)\\s*${kDeclaration}`, "gm");
const kBinding = /emscripten::function\("eg_(?<name>\w+)", &(?<own>\w+)\)/g;

/** Returns what to write. `texts` are the sources in bindings. */
export function nativeFunctions(texts = sources()) {
  const found = texts.flatMap((text) => [
    ...[...text.matchAll(kExport)].map(({ groups }) => groups),
    ...[...text.matchAll(kBinding)].map(({ groups: { name, own } }) => {
      const declaration = new RegExp(
        `${kComment}^${kDeclaration.replace("\\w+)\\(", `${own})\\(`)}`,
        "m",
      );
      const match = declaration.exec(text);
      if (match === null) throw new Error(`eg_${name}: ${own}() is not declared above its binding`);
      return { ...match.groups, name };
    }),
  ]);
  return `${kHead}${found.map(member).join("")}}\n`;
}

/** Writes the file, or with `check` returns what is wrong with it. */
export function writeNativeFunctions({ check }) {
  const wanted = nativeFunctions();
  if (!check) writeFileSync(kFile, wanted);
  else if (readFileSync(kFile, "utf8") !== wanted)
    return ["web/src/generated/native_functions.ts: run npm run generate (or npm run format)"];
  return [];
}

/** Returns a snake_case name in camelCase. */
export const camelCase = (name) =>
  name.replace(/(?<=.)_([a-z])/g, (_, letter) => letter.toUpperCase());

function sources() {
  const folder = join(kRoot, "bindings");
  const names = readdirSync(folder).filter((name) => name.endsWith(".cpp"));
  return names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
}

function member({ comment, name, result, params }) {
  const own = params
    .split(",")
    .map((parameter) => parameter.replace(/\[\[\w+\]\]/, "").trim())
    .filter((parameter) => parameter !== "")
    .map((parameter) => {
      const at = parameter.lastIndexOf(" ");
      return `${camelCase(parameter.slice(at + 1).replace(/^[&*]/, ""))}: ${typeOf(parameter.slice(0, at), "boolean")}`;
    });
  return `${documentation(comment)}  ${name}(${own.join(", ")}): ${typeOf(result, "number")};\n`;
}

function typeOf(type, ofBool) {
  if (/string/.test(type)) return "string";
  if (type === "void") return "void";
  return type === "bool" ? ofBool : "number";
}

function documentation(comment) {
  if (comment === "") return "";
  const text = comment
    .replaceAll(/^\/\/ ?/gm, "")
    .trim()
    .replaceAll("\n", " ");
  // Names of parameters.
  const named = text.replaceAll(/`(\w+)`/g, (_, name) => `\`${camelCase(name)}\``);
  const lines = [];
  for (const word of named.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 130)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  if (lines.length === 1) return `  /** ${lines[0]} */\n`;
  return ["  /**", ...lines.map((line) => `   * ${line}`), "   */", ""].join("\n");
}
