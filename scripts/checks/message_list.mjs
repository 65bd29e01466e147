// Lists the messages of all errors, read from the sources, in docs/messages.md, so that a reader can judge their English.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kAddonFolders } from "../addons.mjs";
import { CommandError, kRoot } from "../process.mjs";

const kFile = join(kRoot, "docs", "messages.md");

/** The placeholder for a value in a message. */
const kValue = "…";

/** Writes the page, or with `check` throws if it is not up to date. */
export function messageList({ check }) {
  const wanted = messagePage().join("\n");
  if (existsSync(kFile) && readFileSync(kFile, "utf8") === wanted) return;
  if (check) throw new CommandError("message list", 1, "docs/messages.md: run npm run format");
  writeFileSync(kFile, wanted);
}

function messagePage() {
  const messages = [...cppMessages(), ...webMessages()];
  const codes = [...new Set(messages.map(({ code }) => code))];
  const sections = codes.sort().flatMap((code) => {
    const lines = messages
      .filter((one) => one.code === code)
      .map(({ caller, text, where }) => row(caller, text, where));
    return [
      `## ${code}`,
      "",
      "| caller | message | source |",
      "|---|---|---|",
      ...[...new Set(lines)].sort(),
      "",
    ];
  });
  return [
    "# Messages",
    "",
    `Every message of an error, by code; ${kValue} stands for a value. Written by \`npm run format\` from the sources.`,
    "[Troubleshooting](guide/troubleshooting.md) says what the codes mean and what to do.",
    "",
    ...sections,
  ];
}

function row(caller, text, where) {
  const cell = (content) =>
    content.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
  return `| ${cell(caller)} | ${cell(text)} | ${where} |`;
}

function filesIn(folder, pattern) {
  return readdirSync(join(kRoot, folder), { recursive: true })
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

// C++: the arguments of check(condition, code, caller, parts...) and fail(code, parts...).

function cppMessages() {
  return [...filesIn("src", /\.(cpp|h)$/), ...filesIn("bindings", /\.(cpp|h)$/)].flatMap((file) => {
    const source = readFileSync(join(kRoot, file), "utf8");
    const calls = source.matchAll(/\b(check|fail|Error|emplace|invariant)\(/g);
    return [...calls].flatMap(({ 0: call, 1: name, index }) => {
      const parts = argumentsFrom(source, index + call.length);
      const at = parts.findIndex((part) => /^ErrorCode::k\w+$/.test(part));
      if (name === "invariant") return [message("Internal", "", parts.slice(1), file)];
      if (at < 0) return [];
      const code = parts[at].replace("ErrorCode::k", "");
      const [caller, rest] =
        name === "check"
          ? [callerIn(parts[at + 1], source.slice(0, index)), parts.slice(at + 2)]
          : ["", parts.slice(at + 1)];
      return [message(code, caller, rest, file)];
    });
  });
}

function message(code, caller, parts, file) {
  const text = parts.map(cppText).join("");
  const [, named, rest] = /^\[([^\]]+)\] (.*)$/s.exec(text) ?? [];
  return { code, caller: caller || named || "", text: rest ?? text, where: file };
}

/** Returns the arguments of a call; `start` is the position after its opening bracket. */
function argumentsFrom(source, start) {
  const found = [];
  let depth = 0;
  let begin = start;
  for (let i = start; i < source.length; i++) {
    const character = source[i];
    if (character === '"' || character === "`" || (character === "'" && !/\w/.test(source[i - 1])))
      i = endOfLiteral(source, i);
    else if ("([{".includes(character)) depth++;
    else if (depth === 0 && (character === "," || character === ")")) {
      found.push(source.slice(begin, i).trim());
      begin = i + 1;
      if (character === ")") break;
    } else if (")]}".includes(character)) depth--;
  }
  return found;
}

function endOfLiteral(source, start) {
  let i = start + 1;
  while (i < source.length && source[i] !== source[start]) {
    if (source[start] === "`" && source.startsWith("${", i)) i = endOfValue(source, i + 2);
    i += source[i] === "\\" ? 2 : 1;
  }
  return i;
}

// Returns the text of a string literal, or of the first alternative of a conditional; anything else is a value.
function cppText(part) {
  const literals = /^(?:"(?:[^"\\]|\\.)*"\s*)+$/s;
  const choice = /^[^?]*\?\s*((?:"(?:[^"\\]|\\.)*"\s*)+):/s.exec(part);
  const text = choice ? choice[1] : part;
  if (literals.test(text))
    return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)]
      .map(([, inner]) => unescaped(inner))
      .join("");
  const character = /^'(.|\\.)'$/s.exec(part);
  return character ? unescaped(character[1]) : kValue;
}

const unescaped = (text) => text.replaceAll(/\\(["'\\])/g, "$1").replaceAll("\\n", " ");

// A literal, or the op whose function the check is in: `doc.name` in IndexSelect::call() is indexSelect. Else a value.
function callerIn(part, before) {
  const [, literal] = /^"(.*)"$/s.exec(part) ?? [];
  if (literal !== undefined) return literal;
  const [, isOwnName, struct] = /^((?:(\w+)::)?doc\.name)$/.exec(part) ?? [];
  if (isOwnName === undefined) return kValue;
  const enclosing = [...before.matchAll(/^[\w:<>&*, ]+ (\w+)::\w+\(/gm)].at(-1)?.[1];
  const op = struct ?? enclosing;
  return op === undefined ? kValue : op[0].toLowerCase() + op.slice(1);
}

// TypeScript: fail(code, caller, text), refusal(code, caller, text) and new EdgeGradError(code, text).

function webMessages() {
  const folders = ["web/src", ...kAddonFolders.map((name) => `web/${name}`)];
  const files = folders.flatMap((folder) => filesIn(folder, /(?<!\.d)\.ts$/));
  return files.flatMap((file) => {
    const source = readFileSync(join(kRoot, file), "utf8");
    const calls = source.matchAll(/\b(fail|refusal|new EdgeGradError)\(/g);
    return [...calls].flatMap(({ 0: call, 1: name, index }) => {
      const [code, ...rest] = argumentsFrom(source, index + call.length);
      const known = /^"([A-Z]\w+)"$/.exec(code ?? "");
      if (known === null) return [];
      const [caller, text] = name.startsWith("new") ? ['""', rest[0]] : rest;
      return [{ code: known[1], caller: webText(caller), text: webText(text ?? ""), where: file }];
    });
  });
}

// The literals of a sum; of a choice its first one; anything else is a value.
function webText(part) {
  const text = /^[^?"`]*\?\s*(["`].*?["`])\s*:/s.exec(part)?.[1] ?? part;
  const literals = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"' || text[i] === "`") {
      const end = endOfLiteral(text, i);
      literals.push(text.slice(i + 1, end));
      i = end;
    } else if (!/[\s+]/.test(text[i])) {
      if (literals.at(-1) !== kValue) literals.push(kValue);
    }
  }
  return unescaped(literals.map(withValues).join(""));
}

// `${...}` may contain braces and literals itself.
function withValues(template) {
  let text = "";
  for (let i = 0; i < template.length; i++) {
    if (template.startsWith("${", i)) {
      i = endOfValue(template, i + 2);
      text += kValue;
    } else text += template[i];
  }
  return text;
}

function endOfValue(source, start) {
  let depth = 1;
  let i = start;
  for (; i < source.length; i++) {
    if (source[i] === '"' || source[i] === "`") i = endOfLiteral(source, i);
    else if (source[i] === "{") depth++;
    else if (source[i] === "}" && --depth === 0) break;
  }
  return i;
}
