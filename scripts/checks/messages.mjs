// The messages of all errors, read from the sources: what each must have, and the list of them, in which a reader can judge their English.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kAddonFolders } from "../addons.mjs";
import { kRoot } from "../process.mjs";

/** The placeholder for a value in a message. */
const kValue = "…";

/** Codes of errors that concern all calls alike, so that their messages name no caller. */
const kOfAnyCall = ["NotInitialized", "OutOfMemory"];

/** Returns all messages: { code, caller, text, where }, where `caller` is "" if C++ adds it where the error leaves the engine. */
export const allMessages = () => [...cppMessages(), ...webMessages()];

/** Returns a line for each message that lacks what every message has. */
export function findMessageErrors(messages = allMessages()) {
  return messages.flatMap(({ code, caller, text, where }) => {
    const isRelayed = new RegExp(`^${kValue}+$`).test(text);
    const problems = {
      "is empty": text === "",
      "names no caller":
        where.startsWith("web/") && caller === "" && !isRelayed && !kOfAnyCall.includes(code),
      // Internal errors are for the maintainers.
      "does not end like a sentence": code !== "Internal" && !/[.?)"'`…]$/.test(text),
      "has two spaces in a row": text.includes("  "),
    };
    const found = Object.keys(problems).filter((problem) => problems[problem]);
    return found.map((problem) => `${where}: the ${code} "${text}" ${problem}`);
  });
}

/** Returns the text of the page. */
export function messagePage() {
  const messages = allMessages();
  const codes = [...new Set(messages.map(({ code }) => code))];
  const sections = codes.sort().flatMap((code) => {
    const lines = messages
      .filter((message) => message.code === code)
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
    `Every message of an error, by code, as the sources have it; ${kValue} stands for a value.`,
    "[Troubleshooting](../guide/troubleshooting.md) says what the codes mean and what to do.",
    "",
    ...sections,
  ].join("\n");
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
      const { items } = listFrom(source, index + call.length);
      const at = items.findIndex((item) => /^ErrorCode::k\w+$/.test(item));
      if (name === "invariant") return [message("Internal", "", items.slice(1), file)];
      if (at < 0) return [];
      const code = items[at].replace("ErrorCode::k", "");
      if (name !== "check") return [message(code, "", items.slice(at + 1), file)];
      const caller = callerIn(items[at + 1], source.slice(0, index));
      return [message(code, caller, items.slice(at + 2), file)];
    });
  });
}

function message(code, caller, parts, file) {
  const isText = (part) => /^["']/.test(part) || kChoice.test(part);
  const text = parts.map((part) => (isText(part) ? textOf(part) : kValue)).join("");
  return withCaller({ code, caller, text, where: file });
}

/** Returns a message with the caller that its text may begin with in brackets. */
function withCaller(message) {
  const [, caller, text] = /^\[([^\]]+)\] (.*)$/s.exec(message.text) ?? [];
  return caller === undefined ? message : { ...message, caller: message.caller || caller, text };
}

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
      const [code, ...rest] = listFrom(source, index + call.length).items;
      const known = /^"([A-Z]\w+)"$/.exec(code ?? "");
      if (known === null) return [];
      const [caller, text = ""] = name.startsWith("new") ? ['""', rest[0]] : rest;
      return [
        withCaller({ code: known[1], caller: textOf(caller), text: textOf(text), where: file }),
      ];
    });
  });
}

// Both languages.

/** Returns the items of a list, such as the arguments of a call, and where it ends; `start` is behind its opening bracket. */
function listFrom(source, start) {
  const items = [];
  let depth = 0;
  let begin = start;
  let end = start;
  for (; end < source.length; end++) {
    const character = source[end];
    if (startsLiteral(source, end)) end = literalAt(source, end).end;
    else if ("([{".includes(character)) depth++;
    else if (depth > 0 && ")]}".includes(character)) depth--;
    else if (depth === 0 && ",)]}".includes(character)) {
      items.push(source.slice(begin, end).trim());
      begin = end + 1;
      if (character !== ",") break;
    }
  }
  return { items, end };
}

// In C++, an apostrophe may also separate digits.
const startsLiteral = (source, at) =>
  '"`'.includes(source[at]) || (source[at] === "'" && !/\w/.test(source[at - 1] ?? ""));

const kEscapes = { '"': '"', "'": "'", "\\": "\\", n: " " };

/** Returns the text of a literal, and where its last quotation mark is. */
function literalAt(source, start) {
  let text = "";
  let end = start + 1;
  for (; end < source.length && source[end] !== source[start]; end++) {
    if (source[start] === "`" && source.startsWith("${", end)) {
      end = listFrom(source, end + 2).end;
      text += kValue;
    } else if (source[end] === "\\") {
      const escaped = source[++end];
      text += kEscapes[escaped] ?? `\\${escaped}`;
    } else text += source[end];
  }
  return { text, end };
}

// A condition, in front of a literal.
const kChoice = /^[^?"'`]*\?\s*(?=["'`])/;

/** Returns the literals of a sum, or of the first alternative of a choice; anything else is a value. */
function textOf(expression) {
  const [choice] = kChoice.exec(expression) ?? [];
  const parts = [];
  for (let i = choice?.length ?? 0; i < expression.length; i++) {
    if (startsLiteral(expression, i)) {
      const { text, end } = literalAt(expression, i);
      parts.push(text);
      i = end;
    } else if (choice !== undefined && expression[i] === ":") break;
    else if (!/[\s+]/.test(expression[i]) && parts.at(-1) !== kValue) parts.push(kValue);
  }
  return parts.join("");
}
