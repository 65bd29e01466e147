// What a page of the reference says beyond the comment in the source: PyTorch's name, formula and gradient, shapes and dtypes, errors, what is
// related, and an example that was run. All of it follows from the op table, the sources, the lists, and runs of samples.

import { readFileSync } from "node:fs";
import { Comment, CommentTag, ReflectionKind } from "typedoc";
import { kExamples } from "../docs/reference.mjs";
import { refuseIncomplete } from "./complete.mjs";
import { describeParameters } from "./described_parameters.mjs";
import { dtypesInWords } from "./dtypes.mjs";
import { formulaOf, gradientsOf } from "./formulas/index.mjs";
import { pytorchName } from "./pytorch_names.mjs";
import { functionOfLayer, pagesAbout, relatedTo } from "./related.mjs";
import { shapesInWords } from "./shapes.mjs";
import { dtypeRows, kOps, messagesByCaller } from "./sources.mjs";
import { usersOfInterfaces } from "./used_by.mjs";

const kMostErrors = 6;
const kMostShapes = 4;
const kMostUsers = 8;

const { examples: kFound } = JSON.parse(readFileSync(kExamples, "utf8"));
const kDtypes = dtypeRows();
const kMessages = messagesByCaller();

/** Adds the facts to the functions and classes of the package, and meanings to parameters. One that lacks what a page needs is an error. */
export function addFacts(project) {
  const all = Object.values(project.reflections);
  const named = new Map(
    all.filter(isDocumented).map((reflection) => [nameOf(reflection), reflection]),
  );
  const context = { named, documents: project.documents ?? [] };
  const heads = new Map();
  for (const [name, reflection] of named) heads.set(name, addTo(reflection, name, context));
  for (const method of named.get("Tensor").children) leadToFunction(method, named);
  const interfaces = all.filter((one) => one.kindOf(ReflectionKind.Interface));
  for (const [options, users] of usersOfInterfaces(interfaces, named))
    if (users.length > 0) leadToUsers(options, users);
  describeParameters(all);
  refuseIncomplete(named, heads);
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
  if (summary && target)
    summary.push(
      text(" Formula, shapes, dtypes, errors and an example: "),
      linkTo(target),
      text("."),
    );
}

// The example of an interface is on the pages of those that take it.
function leadToUsers(options, users) {
  options.comment ??= new Comment();
  const links = between(users.slice(0, kMostUsers).map(linkTo));
  const more = users.length > kMostUsers ? [text(` and ${users.length - kMostUsers} more`)] : [];
  options.comment.blockTags.push(
    new CommentTag("@facts", tableOf([["Used by", ...links, ...more]])),
  );
}

// As the examples are named: "nn.Linear", "edgegrad/vis.watch".
function nameOf(reflection) {
  const names = [];
  for (let at = reflection; at && !at.isProject(); at = at.parent) names.unshift(at.name);
  return names.join(".");
}

// Returns what the page says, as the heads of its rows.
function addTo(reflection, name, context) {
  const described = reflection.signatures?.[0] ?? reflection;
  described.comment ??= new Comment();
  const { blockTags } = described.comment;
  const rows = factsOf(reflection, name, context);
  if (rows.length > 0) blockTags.push(new CommentTag("@facts", tableOf(rows)));
  const heads = new Set(rows.map(([head]) => head));
  const example = kFound[name];
  const isShown = blockTags.some(({ tag }) => tag === "@example");
  if (example !== undefined && !isShown) {
    const program = `\`\`\`js\n${example.code.trimEnd()}\n\`\`\``;
    blockTags.push(new CommentTag("@example", [{ kind: "code", text: program }]));
  }
  return isShown || example !== undefined ? heads.add("Example") : heads;
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
const escaped = (value) => inTable(value.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));

// The signs that Markdown would read.
const inTable = (value) =>
  value
    .replaceAll("|", "&#124;")
    .replaceAll("*", "&#42;")
    .replaceAll("_", "&#95;")
    .replaceAll("[", "&#91;")
    .replaceAll("`", "&#96;")
    .replaceAll("\n", " ");

// A wide formula scrolls alone; the keyboard reaches what scrolls.
function scrolled(label, formula) {
  return `<div class="formula" tabindex="0" role="group" aria-label="${label}">${inTable(formula)}</div>`;
}

function factsOf(reflection, name, { named, documents }) {
  const isClass = reflection.kindOf(ReflectionKind.Class);
  const base = name.replace(/^nn\.functional\.|_$/g, "");
  const computes = isClass ? functionOfLayer(name, named) : base;
  // An internal op may have the name of something else.
  const ofTable = kOps.get(base);
  const op = ofTable?.kind === "internal" ? undefined : ofTable;
  const found = kFound[name] ?? {};
  const rows = [];
  const add = (head, ...cells) => cells.length > 0 && rows.push([head, ...cells]);
  const torch = pytorchName(name, op, isClass);
  add("PyTorch", torch === null ? text("no counterpart") : code(torch));
  const formula = formulaOf(name, base, computes, op);
  if (formula !== null) add("Formula", text(scrolled("Formula", formula)));
  const gradients = op === undefined ? [] : gradientsOf(op);
  if (gradients.length > 0)
    add(
      "Gradient",
      ...between(
        gradients.map((one) => text(scrolled("Gradient", one))),
        "",
      ),
    );
  add("Shapes", ...shapesOf(name, base, op, found));
  const own = name.split(".").at(-1);
  const dtypes =
    [base, name, found.same, own].map((one) => kDtypes.get(one)).find(Boolean) ??
    dtypesOf(found, computes) ??
    dtypesInWords(name);
  if (dtypes) add("Dtypes", text(dtypes));
  add("Errors", ...errorsOf(reflection, name, found));
  add("See also", ...between(relatedTo(reflection, name, named).map(linkTo)));
  add("Guide", ...between(pagesAbout(name, documents).map(linkTo)));
  return rows;
}

function shapesOf(name, base, op, { shapes = kFound[base]?.shapes ?? [] }) {
  const inWords = shapesInWords(name, op) ?? shapesInWords(base, op);
  const measured = between(shapes.slice(0, kMostShapes).map(code));
  if (inWords === null) return measured;
  if (measured.length === 0) return [text(escaped(inWords))];
  return [text(`${escaped(inWords)}<br>such as `), ...measured];
}

// Those with which the example ran, or those of the function that a layer calls.
function dtypesOf({ dtypes }, computes) {
  if (dtypes && dtypes.length > 0) return dtypes.join(", ");
  return kDtypes.get(computes);
}

// Messages of runs name what was given; those of the sources have "…" there.
function errorsOf(reflection, name, { errors = [] }) {
  const own = name.split(".").at(-1);
  const measured = errors.map(([kind, message]) => [kind, message.replace(`[${own}] `, "")]);
  const declared = kMessages.get(own) ?? [];
  const codes = new Set(measured.map(([kind]) => kind));
  const others = declared.filter(
    ([kind, message]) => !codes.has(kind) || !isSame(message, measured),
  );
  const shown = [...measured, ...others].slice(0, kMostErrors);
  if (shown.length === 0) {
    if (takesNothing(reflection)) return [text("none of its own: it takes no arguments")];
    return kOps.has(own) ? [] : [text("none of its own; those of what it calls reach the caller")];
  }
  return between(
    shown.map(([kind, message]) => text(`<code>${kind}</code>: ${escaped(message)}`)),
    "<br>",
  );
}

const isSame = (declared, measured) => {
  const start = declared.split("…")[0];
  return start.length > 8 && measured.some(([, message]) => message.startsWith(start));
};

function takesNothing({ signatures, children }) {
  const called = signatures ?? children?.find(({ name }) => name === "constructor")?.signatures;
  return (called ?? []).every(({ parameters = [] }) => parameters.length === 0);
}

const between = (parts, sign = ", ") =>
  parts.flatMap((part, i) => (i === 0 ? [part] : [text(sign), part]));

const linkTo = (target) => ({
  kind: "inline-tag",
  tag: "@link",
  text: target.isDocument() ? target.name : target.getFriendlyFullName(),
  target,
});
