// What a page of the reference says beyond the comment in the source: PyTorch's name, formula and gradient, shapes and dtypes, errors, what is
// related, and an example that was run. All of it follows from the op table, the sources, the lists, and runs of samples.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Comment, CommentTag, ReflectionKind } from "typedoc";
import { listPath } from "../docs/lists.mjs";
import { kExamples } from "../docs/reference.mjs";
import { kRoot } from "../process.mjs";
import { meaningOf } from "./parameters.mjs";
import { meaningInContext } from "./parameters_in_context.mjs";
import { pytorchName } from "./pytorch_names.mjs";

const kMostErrors = 5;
const kMostShapes = 4;

const read = (path) => readFileSync(join(kRoot, path), "utf8");
const { ops } = JSON.parse(read("web/src/generated/op_table.json"));
const kOps = new Map(ops.map((op) => [op.js, op]));
const { examples: kFound } = JSON.parse(readFileSync(kExamples, "utf8"));
const kFormulas = formulas();
const kDtypes = dtypeRows();
const kMessages = messagesByCaller();

/** Adds the facts to the functions and classes of the package, and meanings to parameters. */
export function addFacts(project) {
  const all = Object.values(project.reflections);
  const named = new Map(
    all.filter(isDocumented).map((reflection) => [nameOf(reflection), reflection]),
  );
  for (const [name, reflection] of named) addTo(reflection, name, named);
  for (const method of named.get("Tensor").children) leadToFunction(method, named);
  for (const reflection of all) {
    if (reflection.kindOf(ReflectionKind.Parameter)) describeParameter(reflection);
    else describeOption(reflection);
  }
  refuseUnknown(all.filter((one) => isArgument(one) && !hasMeaning(one)));
}

function isDocumented(reflection) {
  if (!reflection.kindOf(ReflectionKind.Function | ReflectionKind.Class)) return false;
  for (let at = reflection.parent; at && !at.isProject(); at = at.parent)
    if (!at.kindOf(ReflectionKind.Namespace)) return false;
  return true;
}

// The facts of an op are on the page of its function.
function leadToFunction({ name, signatures }, named) {
  const summary = signatures?.[0].comment?.summary;
  const target = named.get(name);
  if (summary && target) summary.push(text(" Example and dtypes: "), linkTo(target), text("."));
}

// As the examples are named: "nn.Linear", "edgegrad/vis.watch".
function nameOf(reflection) {
  const names = [];
  for (let at = reflection; at && !at.isProject(); at = at.parent) names.unshift(at.name);
  return names.join(".");
}

function addTo(reflection, name, named) {
  const described = reflection.signatures?.[0] ?? reflection;
  described.comment ??= new Comment();
  const { blockTags } = described.comment;
  const rows = factsOf(reflection, name, named);
  if (rows.length > 0) blockTags.push(new CommentTag("@facts", tableOf(rows)));
  const example = kFound[name];
  if (example === undefined || blockTags.some(({ tag }) => tag === "@example")) return;
  const text = `\`\`\`js\n${example.code.trimEnd()}\n\`\`\``;
  blockTags.push(new CommentTag("@example", [{ kind: "code", text }]));
}

function tableOf(rows) {
  const parts = [{ kind: "text", text: "| | |\n| --- | --- |\n" }];
  for (const [head, ...cells] of rows) {
    parts.push({ kind: "text", text: `| ${head} | ` }, ...cells, { kind: "text", text: " |\n" });
  }
  return parts;
}

const text = (value) => ({ kind: "text", text: value });
const code = (value) => text(`<code>${escaped(value)}</code>`);
const escaped = (value) =>
  value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("|", "&#124;")
    .replaceAll("*", "&#42;")
    .replaceAll("_", "&#95;");

function factsOf(reflection, name, named) {
  const base = name.replace(/^nn\.functional\.|_$/g, "");
  const rows = [];
  const add = (head, ...cells) => cells.length > 0 && rows.push([head, ...cells]);
  const torch = pytorchName(name, kOps.get(base), reflection.kindOf(ReflectionKind.Class));
  if (torch !== null) add("PyTorch", code(torch));
  const formula = kFormulas.get(kOps.get(base)?.name);
  if (formula !== undefined) {
    add("Formula", code(formula.forward));
    if (formula.gradients.length > 0) add("Gradient", ...between(formula.gradients.map(code)));
  }
  const shapes = kFound[base]?.shapes ?? [];
  add("Shapes", ...between(shapes.slice(0, kMostShapes).map(code)));
  const dtypes = kDtypes.get(base);
  if (dtypes !== undefined) add("Dtypes", text(dtypes));
  const errors = kMessages.get(name.split(".").at(-1)) ?? [];
  add(
    "Errors",
    ...between(
      errors
        .slice(0, kMostErrors)
        .map(([kind, message]) => text(`<code>${kind}</code>: ${escaped(message)}`)),
      "<br>",
    ),
  );
  const links = relatedTo(reflection, name, named).map(linkTo);
  add("See also", ...between(links));
  return rows;
}

const between = (parts, sign = ", ") =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [text(sign), part]));

const linkTo = (target) => ({
  kind: "inline-tag",
  tag: "@link",
  text: target.getFriendlyFullName(),
  target,
});

// The same computation as a class, a function, in place and as a method.
function relatedTo(reflection, name, named) {
  const own = name.split(".").at(-1);
  const isClass = reflection.kindOf(ReflectionKind.Class);
  const places = (groupsOf(named).get(keyOf(name)) ?? []).filter(([other, candidate]) =>
    isClass
      ? !other.includes(".") && !candidate.kindOf(ReflectionKind.Class)
      : isRelated(other, candidate, own),
  );
  const tensor = named.get("Tensor");
  const method = name.includes(".") ? undefined : tensor?.getChildByName(own);
  return [...places.map(([, candidate]) => candidate), ...(method ? [method] : [])].filter(
    (candidate) => candidate !== reflection,
  );
}

function isRelated(other, candidate, own) {
  if (candidate.kindOf(ReflectionKind.Class)) return other.startsWith("nn.");
  const last = other.split(".").at(-1);
  return !other.includes("functional.") && last.replace(/_$/, "") === own.replace(/_$/, "");
}

// "relu" for relu, relu_, nn.ReLU and nn.functional.relu.
const keyOf = (name) => name.split(".").at(-1).replace(/_$/, "").toLowerCase();

let groups = null;

function groupsOf(named) {
  if (groups !== null) return groups;
  groups = new Map();
  for (const entry of named) {
    const key = keyOf(entry[0]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return groups;
}

// ---------------------------------------------------------------- parameters

function describeParameter(parameter) {
  if (parameter.comment === undefined) {
    const meaning =
      meaningInContext(parameter.name, contextOf(parameter)) ?? meaningOf(parameter.name);
    parameter.comment =
      ofOptions(parameter) ?? (meaning === null ? undefined : textComment(meaning));
  }
  const { parent } = parameter;
  const op = kOps.get(parent.name.replace(/_$/, ""));
  const given = op?.args.find(({ name }) => name === parameter.name)?.default;
  if (given !== undefined && parameter.defaultValue === undefined) parameter.defaultValue = given;
}

function contextOf({ type, parent }) {
  const siblings = (parent.parameters ?? []).map(({ name }) => name);
  return {
    type: String(type),
    owner: parent.name,
    family: kOps.get(parent.name)?.family,
    siblings,
  };
}

// The types of options of a class have its name.
const kOptionTypes = ["Options", "Settings"];
const kMentioned = /\b\w+(?:Options|Settings)\b/g;

// What the options of a class say of the parameter of its constructor: more than its name alone.
function ofOptions({ name, parent: signature }) {
  const owner = signature.parent?.parent;
  if (!signature.kindOf(ReflectionKind.ConstructorSignature) || !owner?.parent) return undefined;
  const types = signature.parameters.flatMap(({ type }) => String(type).match(kMentioned) ?? []);
  const names = [...kOptionTypes.map((ending) => owner.name + ending), ...types];
  const [option] = names.flatMap((typeName) => {
    const found = owner.parent.getChildByName(typeName)?.getChildByName(name);
    return found?.comment ? [found] : [];
  });
  return option && new Comment(Comment.cloneDisplayParts(option.comment.summary));
}

function isArgument(reflection) {
  if (reflection.kindOf(ReflectionKind.Parameter)) return true;
  return isOption(reflection);
}

function isOption({ parent, kind }) {
  return kind === ReflectionKind.Property && parent.kindOf(ReflectionKind.TypeLiteral);
}

const hasMeaning = ({ comment }) =>
  comment !== undefined && (comment.summary.length > 0 || comment.blockTags.length > 0);

// A parameter without a word is of no help to readers.
function refuseUnknown(unknown) {
  if (unknown.length === 0) return;
  const names = [...new Set(unknown.map((one) => `${one.parent.getFullName()}: ${one.name}`))];
  throw new Error(
    `${names.length} parameters have no meaning; add them to scripts/reference/parameters*.mjs, or @param to their comments:\n${names.join("\n")}`,
  );
}

// An option in the type of a parameter that has no comment of its own.
function describeOption(reflection) {
  if (!isOption(reflection) || reflection.comment) return;
  const meaning = meaningOf(reflection.name);
  if (meaning !== null) reflection.comment = textComment(meaning);
}

const textComment = (value) => new Comment([{ kind: "text", text: value }]);

// ---------------------------------------------------------------- sources

// The formulas of one line in src/formulas, by the name of the op.
function formulas() {
  const found = new Map();
  for (const file of readdirSync(join(kRoot, "src/formulas")).filter((name) =>
    name.endsWith(".h"),
  )) {
    for (const [, body] of read(`src/formulas/${file}`).matchAll(
      /^struct \w+ \{\n([\s\S]*?)^\};/gm,
    )) {
      const [, name] = /doc\{\s*"(\w+)"/.exec(body) ?? [];
      const [forward] = returned(body, "forward");
      if (name && forward) found.set(name, { forward, gradients: returned(body, "grad\\w*") });
    }
  }
  return found;
}

function returned(body, name) {
  const pattern = new RegExp(
    `auto ${name}\\([^)]*\\)(?: const)? \\{\\s*return ([^;{]*);\\s*\\}`,
    "g",
  );
  return [...body.matchAll(pattern)].map(([, expression]) => expression.replaceAll(/\s+/g, " "));
}

// The rows of the list of ops.
function dtypeRows() {
  const rows = readFileSync(listPath("ops"), "utf8").matchAll(
    /^\| `([\w.]+)` \|([^|]*)\|([^|]*)\|/gm,
  );
  return new Map(
    [...rows].map(([, name, cpu, gradient]) => {
      const has = gradient.trim() === "–" ? "no gradient" : `gradient: ${gradient.trim()}`;
      return [name, `${cpu.trim()}; ${has}`];
    }),
  );
}

function messagesByCaller() {
  const found = new Map();
  const sections = readFileSync(listPath("messages"), "utf8").split(/^## /m).slice(1);
  for (const section of sections) {
    const kind = section.slice(0, section.indexOf("\n"));
    for (const [, caller, message] of section.matchAll(/^\| (\w+) \| (.*) \| [^|]* \|$/gm))
      found.set(caller, [...(found.get(caller) ?? []), [kind, message.replaceAll("\\`", "`")]]);
  }
  return found;
}
