// A typedoc plugin for this package: which values are functions, which types are lists of options, and how names are
// grouped into chapters. It is named in typedoc.json.

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Comment,
  CommentTag,
  Context,
  Converter,
  IndexEvent,
  makeRecursiveVisitor,
  PageEvent,
  ParameterReflection,
  ReferenceType,
  ReflectionFlag,
  ReflectionKind,
  UnionType,
} from "typedoc";
import ts from "typescript";
import { kAddons } from "../addons.mjs";
import { kLists, listPath } from "../docs/lists.mjs";
import { kGuide } from "../docs/reference.mjs";
import { addFacts } from "./facts.mjs";
import { withoutSkips } from "./headings.mjs";
import { foldInherited, isInherited, rememberInherited } from "./inherited.mjs";
import { markLive } from "./live.mjs";
import { rememberPlace } from "./related.mjs";
import { prepareSearch } from "./search.mjs";
import { siteLinks } from "./site_frame.mjs";
import { fold, orderDocuments, ReferenceRouter, ReferenceTheme } from "./theme.mjs";

const kSource = fileURLToPath(new URL("../../web/src/", import.meta.url));

// The families of ops, from the op table.
const { ops } = JSON.parse(readFileSync(join(kSource, "generated", "op_table.json"), "utf8"));
const kFamilies = new Map(
  ops.flatMap(({ js, family }) => [js, `${js}_`].map((name) => [name, family])),
);

// The chapter of a name, by the folder of web/src that declares it.
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
  Parameter: "Trained, and saved under this name.",
  Buffer: "Saved under this name, but not trained.",
  other: "The value passed to the constructor.",
};

/** The entry point of the plugin, which typedoc calls. */
export function load(app) {
  tagByRules();
  app.renderer.defineTheme("reference", ReferenceTheme);
  app.renderer.defineRouter("reference", ReferenceRouter);
  app.converter.on(Converter.EVENT_CREATE_SIGNATURE, spellArguments);
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => nameDocument(document));
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    dropHeading(project.readme);
    leadToLists(project.readme, project);
    orderDocuments(project.documents ?? []);
    for (const document of project.documents ?? []) {
      leadToLists(document.content, project);
      markLive(document.content);
      if (document.name === "Messages") dropSources(document.content);
    }
    for (const name of kAddons) nameAddon(project.getChildByName(name), name);
    const inherited = Object.values(project.reflections).filter(isInherited);
    inherited.forEach(rememberInherited);
    for (const reflection of Object.values(project.reflections)) {
      showBase(reflection, project);
      shareComment(reflection);
      describeField(reflection);
      nameBase(reflection);
      const chapter = chapterOf(reflection);
      if (chapter) addTo(chapter, reflection);
      rememberPlace(reflection);
      // The location of a declaration is of no interest to readers.
      delete reflection.sources;
    }
    foldInherited(inherited, project);
    addFacts(project);
    for (const { comment } of Object.values(project.reflections))
      for (const { content } of comment?.getTags("@example") ?? []) markLive(content);
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, hideDeclarations, kAfterInheritance);
  app.renderer.on(PageEvent.END, finishPage);
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => prepareSearch(event, kGuide));
}

// If these tags were in comments, editors would show them for every name.
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
  if (ts.isVariableDeclaration(declaration) && isFunction(declaration)) return "@function";
  const isAlias = ts.isTypeAliasDeclaration(declaration);
  return isAlias && /(Options|Settings|Tolerance)$/.test(declaration.name.text)
    ? "@interface"
    : null;
}

// A constant without a type is a function if a call, such as composite(), makes it. typedoc keeps values that cannot be called.
function isFunction({ type, initializer }) {
  if (!type) return initializer !== undefined && ts.isCallExpression(initializer);
  if (ts.isTypeQueryNode(type) || ts.isFunctionTypeNode(type)) return true;
  return ts.isTypeLiteralNode(type) && type.members.every(ts.isCallSignatureDeclaration);
}

// Names a Markdown page after its heading.
function nameDocument(document) {
  document.frontmatter.category = categoryOf(document.name);
  document.name = headingOf(document.content).title;
}

function categoryOf(name) {
  if (/(^|\/)guide\/(tutorial|recipes)/.test(name)) return "Tutorial";
  return /(^|\/)guide\//.test(name) ? "Guide" : "Lists";
}

// Removes the heading of the first page, which typedoc adds itself.
function dropHeading(page) {
  page[0].text = page[0].text.slice(headingOf(page).line.length);
}

function headingOf([first]) {
  const [line, title] = /^\s*# (.*)\n/.exec(first.text);
  return { line, title };
}

// The files that messages come from are of use in a checkout only, and a third of the page. Code in a message is a part of its own.
function dropSources(parts) {
  const joined = parts.splice(0).reduce((list, part) => {
    const last = list.at(-1);
    if (last?.kind === "text" && part.kind !== "relative-link") last.text += part.text;
    else list.push(part);
    return list;
  }, []);
  for (const part of joined) part.text = part.text.replaceAll(/^(\|[^\n]*\|)[^|\n]*\|$/gm, "$1");
  parts.push(...joined);
}

// The links of the guide to lists lead to the page that says where they are; on the site, to the lists themselves.
function leadToLists(parts, { files }) {
  for (const part of parts.filter(({ kind }) => kind === "relative-link")) {
    const [, name] = /^lists\.md#(\w+)$/.exec(part.text) ?? [];
    if (kLists.includes(name))
      Object.assign(part, files.registerAbsolute(listPath(name)), { targetAnchor: undefined });
  }
}

// Overloads are documented once, at the first one, and the others folded; accessors are at their getter.
function shareComment(reflection) {
  const { signatures = [], getSignature, setSignature } = reflection;
  if (setSignature) setSignature.comment ??= getSignature?.comment?.clone();
  const [first, ...others] = signatures;
  const isOwn = ({ comment }) => comment && summaryOf(comment) !== summaryOf(first.comment);
  if (others.length === 0 || others.some(isOwn)) return;
  if (reflection.kindOf(ReflectionKind.Constructor)) others.forEach(fold);
  // The comment of a constant that is a function is not at a signature.
  if (!(first.comment ?? reflection.comment)) return;
  for (const other of others) {
    if (first.comment)
      other.comment = new Comment(Comment.cloneDisplayParts(first.comment.summary));
    fold(other);
  }
}

const summaryOf = (comment) => Comment.combineDisplayParts(comment?.summary ?? []);

// The public bases of classes that extend the result of a function.
const kBases = [
  ["nn", "Module"],
  ["distributions", "Distribution"],
  ["distributions", "Transform"],
  ["optim", "Optimizer"],
  ["optim", "lrScheduler", "LRScheduler"],
];

// For a class that extends the result of a function, such as `class ReLU extends plainActivation(relu, relu_)`: the pages show
// that it extends Module, and do not mark its members as inherited.
function showBase(reflection, project) {
  if (/\(|^HookedModule\./.test(reflection.inheritedFrom?.name)) delete reflection.inheritedFrom;
  if (reflection.defaultValue === "..." && reflection.flags.isReadonly)
    delete reflection.defaultValue;
  if (!reflection.kindOf(ReflectionKind.Class) || !reflection.extendedTypes) return;
  if (reflection.extendedTypes.every((type) => type.reflection)) return;
  const bases = kBases.map((path) => project.getChildByName(path));
  // A public base may have a base that is not public.
  if (bases.includes(reflection)) {
    delete reflection.extendedTypes;
    return;
  }
  const base = bases.find(
    (base) => reflection.parent === base?.parent && hasMembersOf(reflection, base),
  );
  if (base === undefined) return;
  const name = base.getFriendlyFullName();
  reflection.extendedTypes.forEach(removeDeclarations);
  reflection.extendedTypes = [ReferenceType.createResolvedReference(name, base, project)];
}

function hasMembersOf(reflection, base) {
  return base.children.every(({ name }) => reflection.getChildByName(name));
}

// Removes what a type that is not shown declares, such as the fields of a type literal: they would count as undocumented.
function removeDeclarations(type) {
  const remove = ({ declaration }) => declaration.project.removeReflection(declaration);
  type.visit(makeRecursiveVisitor({ reflection: remove }));
}

// Describes fields of modules, optimizers and schedulers: constructor arguments, or trained and saved state.
function describeField(reflection) {
  const isField = reflection.kindOf(ReflectionKind.Property);
  if (!isField || reflection.comment || !reflection.parent.kindOf(ReflectionKind.Class)) return;
  const kind = /\b(Parameter|Buffer)\b/.exec(String(reflection.type))?.[0] ?? "other";
  reflection.comment = new Comment([{ kind: "text", text: kFields[kind] }]);
}

const kAfterInheritance = -10000;
const kDeclaration = /\(|^Options\./;

// That a class has the constructor of its base says nothing.
const kConstructors = ReflectionKind.Constructor | ReflectionKind.ConstructorSignature;

// A class may extend the result of a call, and options a declaration. typedoc would show their source as the origin and
// as the default value of every member.
function hideDeclarations({ project }) {
  for (const reflection of Object.values(project.reflections)) {
    const isOption = reflection.parent?.kindOf(ReflectionKind.Interface);
    if (isOption || kDeclaration.test(reflection.inheritedFrom?.name)) {
      delete reflection.defaultValue;
    }
    for (const link of ["inheritedFrom", "overwrites"]) {
      const isOfNote = !reflection.kindOf(kConstructors);
      if (!isOfNote || kDeclaration.test(reflection[link]?.name)) delete reflection[link];
    }
  }
}

// The parameters of composites, optimizers and schedulers are a tuple with names, and those of some functions one of several tuples, for
// arguments by position and by name. typedoc would show a single parameter; the pages show the longest tuple.
function spellTuple(context, reflection, signature) {
  const [symbol, ...others] = signature?.parameters ?? [];
  if (symbol === undefined || others.length > 0) return;
  const given = context.checker.getTypeOfSymbol(symbol);
  const isUnion = given.isUnion() && given.types.every(labelsOf);
  const type = isUnion ? longest(given.types) : given;
  const labels = labelsOf(type);
  const isRest = symbol.valueDeclaration?.dotDotDotToken !== undefined;
  if (!labels || !(isRest || isUnion)) return;
  for (const parameter of reflection.parameters) context.project.removeReflection(parameter);
  reflection.parameters = context.checker.getTypeArguments(type).map((element, i) => {
    const name = labels[i].name.getText();
    const parameter = new ParameterReflection(name, ReflectionKind.Parameter, reflection);
    const isOptional = (type.target.elementFlags[i] & ts.ElementFlags.Optional) !== 0;
    const converted = context.converter.convertType(context, element);
    parameter.type = isOptional ? withoutUndefined(converted) : converted;
    parameter.setFlag(ReflectionFlag.Optional, isOptional);
    context.registerReflection(parameter, undefined, undefined);
    return parameter;
  });
}

// What may be left out is undefined then anyway.
function withoutUndefined(type) {
  if (type.type !== "union") return type;
  const types = type.types.filter((one) => one.name !== "undefined");
  return types.length === 1 ? types[0] : new UnionType(types);
}

function labelsOf(type) {
  const labels = type?.target?.labeledElementDeclarations;
  return labels?.every(Boolean) ? labels : null;
}

const longest = (tuples) =>
  tuples.reduce((a, b) => (labelsOf(b).length > labelsOf(a).length ? b : a));

// The constructor of a distribution takes a type; typedoc alone would show only its name.
function spellArguments(context, reflection, _, signature) {
  spellTuple(context, reflection, signature);
  const { parameters = [] } = reflection;
  for (const [i, parameter] of parameters.entries()) {
    // A parameter that is taken apart at once has no name of its own.
    if (parameter.name === "__namedParameters") parameter.name = "options";
    const symbol = signature?.parameters[i];
    const type = symbol && context.checker.getTypeOfSymbol(symbol);
    if (type?.aliasSymbol?.name !== "Given" || !type.isUnion()) continue;
    const spelled = type.types.map((type) => context.converter.convertType(context, type));
    parameter.type = new UnionType(spelled);
  }
}

// The base of such a class is an intersection of a class and the declared fields.
function nameBase(reflection) {
  if (!reflection.kindOf(ReflectionKind.Class)) return;
  reflection.extendedTypes = reflection.extendedTypes?.map((type) => {
    if (type.type !== "intersection") return type;
    const [base, ...fields] = type.types;
    fields.forEach(removeDeclarations);
    return base;
  });
}

// An add-on is a namespace only here: its name is that of its entry, and its text the comment at the beginning of that.
function nameAddon(reflection, name) {
  const entry = `edgegrad/${name}`;
  const source = readFileSync(join(kSource, "..", name, "index.ts"), "utf8");
  const found = new RegExp(`^// ${entry}: (.*(?:\\n// .*)*)`).exec(source);
  if (found === null)
    throw new Error(`web/${name}/index.ts must begin with "// ${entry}: " and a sentence.`);
  const sentence = found[1].replaceAll("\n// ", " ");
  const code = `import * as ${name} from "${entry}";`;
  reflection.name = entry;
  reflection.comment = new Comment([
    { kind: "text", text: `${sentence[0].toUpperCase()}${sentence.slice(1)}\n\n` },
    { kind: "code", text: `\`\`\`js\n${code}\n\`\`\`` },
  ]);
}

// Returns the chapter of a top-level name of the package, or of a member of Tensor.
function chapterOf(reflection) {
  const { parent, name } = reflection;
  const isTop = parent?.isProject() ?? false;
  if (!isTop && !(parent?.name === "Tensor" && parent.kindOf(ReflectionKind.Class))) return null;
  if (isTop && reflection.kindOf(ReflectionKind.Namespace)) {
    return kAddons.some((addon) => name === `edgegrad/${addon}`) ? "Add-ons" : "Namespaces";
  }
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

// Makes links from the reference to the rest of the site relative to its root, and adds accessibility features that
// typedoc's theme lacks: a main landmark, wide tables that can be scrolled with the keyboard, and no links inside
// buttons. The lists of all pages are loaded when they are needed.
function finishPage(page) {
  const toRoot = "../".repeat(page.url.split("/").length);
  page.contents = page.contents
    .replace(/(<div id="tsd-toolbar-links">)[\s\S]*?<\/div>/, `$1${siteLinks()}</div>`)
    .replaceAll('href="site:', `href="${toRoot}`)
    .replace('<div class="col-content">', '<div class="col-content" role="main">')
    .replace(/<script async src="([^"]*)" (id="tsd-(?:search|nav)-script")>/g, kLater)
    .replace("</head>", `${kLoading}$&`)
    .replace("<!-- keep docs -->", kKeeping)
    .replace(/<table>[\s\S]*?<\/table>/g, kScrollable)
    .replace(/<dl class="tsd-member-summaries">[\s\S]*?<\/dl>/g, asPlainList)
    .replace(/<svg class="tsd-kind-icon"[^>]*><use[^>]*><\/use><\/svg>(?=<span>)/g, "")
    .replace(/(class="tsd-anchor-icon"[^>]*>)<svg[^>]*><use[^>]*><\/use><\/svg>/g, "$1")
    .replace(/<summary[\s\S]*?<\/summary>/g, (summary) => {
      return summary.replace(/<a [^>]*tsd-anchor-icon[\s\S]*?<\/a>/g, "");
    });
  page.contents = withoutSkips(withDescription(page.contents, page.model));
}

// What search engines show of a page: typedoc has one text for all.
function withDescription(contents, model) {
  const { comment, signatures, name } = model;
  const [summary] = summaryOf(signatures?.[0].comment ?? comment).split(/(?<=\.)\s/);
  const text = model.isDocument() ? `${name}: a page of the guide of edgegrad.` : summary;
  if (text === "") return contents;
  const escaped = text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return contents.replace(/(<meta name="description" content=")[^"]*/, `$1${escaped}`);
}

// In a list of a thousand names, icons and anchors would be most of the page. Most names have no text beside them, and a list of definitions
// would need one.
function asPlainList(list) {
  return list
    .replaceAll(/<a [^>]*tsd-anchor-icon[\s\S]*?<\/a>/g, "")
    .replaceAll(/<svg class="tsd-kind-icon"[\s\S]*?<\/svg>/g, "")
    .replace(/^<dl/, "<ul")
    .replace(/dl>$/, "ul>")
    .replaceAll("<dt", "<li")
    .replaceAll("</dt>", "")
    .replaceAll('<dd class="tsd-member-summary"></dd>', "</li>")
    .replaceAll(/<dd class="tsd-member-summary">([\s\S]*?)<\/dd>/g, "<div>$1</div></li>");
}

const kLater = '<script async data-later="$1" $2>';

// The index of the search has 300 kB, and the list of pages, which a phone hides behind a button, 11,000 elements: they are loaded when
// a visitor does something, and the list on wide screens at once. typedoc shows a page after the list, and does not look for what was
// typed before the index has arrived: that it is ready empties the status.
const kLoading = `<script>{
  const load = (name) => {
    const script = document.querySelector(\`#tsd-\${name}-script[data-later]\`);
    if (script === null) return;
    script.src = script.dataset.later;
    script.removeAttribute("data-later");
    if (name === "search") searchWhenReady();
  };
  const searchWhenReady = () => {
    new MutationObserver((_, observer) => {
      observer.disconnect();
      document.querySelector("#tsd-search-input").dispatchEvent(new Event("input"));
    }).observe(document.querySelector("#tsd-search-status"), { childList: true });
  };
  const isWide = matchMedia("(min-width: 770px)").matches;
  const signs = ["pointermove", "pointerdown", "touchstart", "wheel", "keydown"];
  for (const sign of signs) {
    addEventListener(sign, () => ["nav", "search"].forEach(load), { capture: true, passive: true, once: true });
  }
  addEventListener("DOMContentLoaded", () => (isWide ? load("nav") : globalThis.app?.showPage()));
}</script>`;

// A button that keeps all pages (demos/site/service_worker/keep_docs.ts).
const kKeeping =
  '<p class="keep-docs"><button type="button" id="keep-docs" hidden></button> <output id="keep-docs-note"></output></p>' +
  '<script src="../keep_docs.js" defer></script>';

const kScrollable = '<div class="scroll" tabindex="0" role="group" aria-label="Table">$&</div>';
