// What typedoc is told about this package: which values are functions, which types are lists of options, and what
// belongs together on a page. typedoc.json names it.

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Comment,
  CommentTag,
  Context,
  Converter,
  PageEvent,
  ReflectionKind,
  UnionType,
} from "typedoc";
import ts from "typescript";

const kSource = fileURLToPath(new URL("../../web/src/", import.meta.url));

// An op's family is said once, in its table.
const { ops } = JSON.parse(readFileSync(join(kSource, "generated", "op_table.json"), "utf8"));
const kFamilies = new Map(
  ops.flatMap(({ js, family }) => [js, `${js}_`].map((name) => [name, family])),
);

// Chapters by the folder of web/src that a name comes from.
const kChapters = {
  tensor: "Tensors",
  ops: "Tensors",
  composites: "Ops made of ops",
  dispatch: "Tensors",
  autograd: "Modes and hooks",
  nn: "Losses",
};
const kRest = "The engine";

const kFields = {
  Parameter: "Learned, and saved under this name.",
  Buffer: "Saved under this name, not learned.",
  other: "As the constructor was told.",
};

/** Extends typedoc, which calls this. */
export function load(app) {
  tagByRules();
  app.converter.on(Converter.EVENT_CREATE_SIGNATURE, spellArguments);
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => nameDocument(document));
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    dropHeading(project.readme);
    for (const reflection of Object.values(project.reflections)) {
      shareComment(reflection);
      describeField(reflection);
      nameBase(reflection);
      const chapter = chapterOf(reflection);
      if (chapter) addTo(chapter, reflection);
      // Where something is declared matters to its authors alone.
      delete reflection.sources;
    }
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, hideDeclarations, kAfterInheritance);
  app.renderer.on(PageEvent.END, finishPage);
}

// As comments these tags would be in the way of everybody who hovers over a name.
function tagByRules() {
  const { getComment } = Context.prototype;
  Context.prototype.getComment = function (symbol, kind) {
    const comment = getComment.call(this, symbol, kind);
    const tag = tagOf(symbol.declarations?.[0]);
    if (comment && tag) comment.modifierTags.add(tag);
    return comment;
  };
}

function tagOf(declaration) {
  if (!declaration) return null;
  if (ts.isVariableDeclaration(declaration) && isOfSignatures(declaration.type)) return "@function";
  const isAlias = ts.isTypeAliasDeclaration(declaration);
  return isAlias && /(Options|Settings|Tolerance)$/.test(declaration.name.text)
    ? "@interface"
    : null;
}

function isOfSignatures(type) {
  if (!type) return false;
  if (ts.isTypeQueryNode(type) || ts.isFunctionTypeNode(type)) return true;
  return ts.isTypeLiteralNode(type) && type.members.every(ts.isCallSignatureDeclaration);
}

// A page of Markdown is called what its heading says.
function nameDocument(document) {
  document.frontmatter.category = /(^|\/)guide\//.test(document.name) ? "Guide" : "Lists";
  document.name = headingOf(document.content).title;
}

// The first page has a heading from typedoc.
function dropHeading(page) {
  page[0].text = page[0].text.slice(headingOf(page).line.length);
}

function headingOf([first]) {
  const [line, title] = /^\s*# (.*)\n/.exec(first.text);
  return { line, title };
}

// What overloads do is said once, at the first; what an accessor does, at its getter.
function shareComment(reflection) {
  const { signatures = [], getSignature, setSignature } = reflection;
  if (setSignature) setSignature.comment ??= getSignature?.comment?.clone();
  const [first, ...others] = signatures;
  if (!first?.comment || others.length === 0 || others.some(({ comment }) => comment)) return;
  reflection.comment = first.comment;
  delete first.comment;
}

// Fields of modules, optimizers and schedulers are what their constructors were told, or what they learn.
function describeField(reflection) {
  const isField = reflection.kindOf(ReflectionKind.Property);
  if (!isField || reflection.comment || !reflection.parent.kindOf(ReflectionKind.Class)) return;
  const kind = /\b(Parameter|Buffer)\b/.exec(String(reflection.type))?.[0] ?? "other";
  reflection.comment = new Comment([{ kind: "text", text: kFields[kind] }]);
}

const kAfterInheritance = -10000;
const kDeclaration = /\(|^Options\./;

// A class may extend the result of a call, and options a declaration. typedoc would show their source as the origin and
// as the default value of every member.
function hideDeclarations({ project }) {
  for (const reflection of Object.values(project.reflections)) {
    const isOption = reflection.parent?.kindOf(ReflectionKind.Interface);
    if (isOption || kDeclaration.test(reflection.inheritedFrom?.name)) {
      delete reflection.defaultValue;
    }
    for (const link of ["inheritedFrom", "overwrites"]) {
      if (kDeclaration.test(reflection[link]?.name)) delete reflection[link];
    }
  }
}

// The arguments of a distribution's constructor have a type of which typedoc would show the name only.
function spellArguments(context, { parameters = [] }, _, signature) {
  for (const [i, parameter] of parameters.entries()) {
    const symbol = signature?.parameters[i];
    const type = symbol && context.checker.getTypeOfSymbol(symbol);
    if (type?.aliasSymbol?.name !== "Given" || !type.isUnion()) continue;
    const spelled = type.types.map((one) => context.converter.convertType(context, one));
    parameter.type = new UnionType(spelled);
  }
}

// The base of such a class is an intersection of a class and of what was declared.
function nameBase(reflection) {
  if (!reflection.kindOf(ReflectionKind.Class)) return;
  reflection.extendedTypes = reflection.extendedTypes?.map((type) => {
    return type.type === "intersection" ? type.types[0] : type;
  });
}

// Of the package's own names, and of what a tensor has.
function chapterOf(reflection) {
  const { parent, name } = reflection;
  const isTop = parent?.isProject() ?? false;
  if (!isTop && !(parent?.name === "Tensor" && parent.kindOf(ReflectionKind.Class))) return null;
  if (isTop && reflection.kindOf(ReflectionKind.Namespace)) return "Namespaces";
  const file = reflection.sources?.[0]?.fullFileName;
  if (!file) return null;
  const [folder] = relative(kSource, file).split("/");
  if (folder === "generated") return kFamilies.get(name) ?? null;
  return kChapters[folder] ?? kRest;
}

function addTo(chapter, reflection) {
  const described = reflection.comment ? reflection : (reflection.signatures?.[0] ?? reflection);
  described.comment ??= new Comment();
  described.comment.blockTags.push(new CommentTag("@category", [{ kind: "text", text: chapter }]));
}

// Links from the reference to the rest of the site are written from its root. What typedoc's theme leaves out for those
// who do not see: which part is the page's own, wide tables that the keyboard scrolls, and no link inside a button.
function finishPage(page) {
  const toRoot = "../".repeat(page.url.split("/").length);
  page.contents = page.contents
    .replaceAll('href="site:', `href="${toRoot}`)
    .replace('<div class="col-content">', '<div class="col-content" role="main">')
    .replace(/<table>[\s\S]*?<\/table>/g, kScrollable)
    .replace(/<summary[\s\S]*?<\/summary>/g, (summary) => {
      return summary.replace(/<a [^>]*tsd-anchor-icon[\s\S]*?<\/a>/g, "");
    });
}

const kScrollable = '<div class="scroll" tabindex="0" role="group" aria-label="Table">$&</div>';
