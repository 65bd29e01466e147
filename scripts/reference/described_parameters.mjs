// Meanings and defaults of parameters and options: of the comment in the source, of the options of a class, or by the name.

import { Comment, ReflectionFlag, ReflectionKind, ReflectionType } from "typedoc";
import { meaningOf } from "./parameters.mjs";
import { meaningInContext } from "./parameters_in_context.mjs";
import { placeOf } from "./related.mjs";
import { kOps } from "./sources.mjs";

/** Describes the parameters and options of all functions and classes; one that nothing describes is an error. */
export function describeParameters(all) {
  for (const reflection of all)
    if (reflection.kindOf(ReflectionKind.Parameter)) spellOptions(reflection);
  for (const reflection of all) {
    if (reflection.kindOf(ReflectionKind.Parameter)) describeParameter(reflection);
    else describeOption(reflection);
  }
  refuseUnknown(all.filter((one) => isArgument(one) && !hasMeaning(one)));
}

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
  addDefault(parameter);
}

// "The number of groups; default 1." says it once more than needed where the signature does, but a reader finds it in either.
const kDefault = /; (?:by )?default (\[[^\]]*\]|"[^"]*"|[-+\w.]*\w)(?=[.,;]|$)/;

function addDefault(parameter) {
  if (parameter.defaultValue !== undefined || !parameter.flags.isOptional) return;
  const words = Comment.combineDisplayParts(parameter.comment?.summary ?? []);
  const [, value] = kDefault.exec(words) ?? [];
  if (value !== undefined) parameter.defaultValue = value;
}

// The options of a layer are declared by rules, Options<{ bias: Rule<boolean> }>: readers see { bias?: boolean }.
function spellOptions(parameter) {
  const { type } = parameter;
  if (type?.type !== "reference" || type.name !== "Options" || type.typeArguments?.length !== 1)
    return;
  const [given] = type.typeArguments;
  const [first, ...others] = (given.type === "intersection" ? given.types : [given]).filter(
    (one) => one instanceof ReflectionType,
  );
  if (first === undefined) return;
  const { declaration } = first;
  for (const { declaration: other } of others)
    for (const child of other.children ?? [])
      if (!declaration.getChildByName(child.name)) declaration.children.push(child);
  for (const child of declaration.children ?? []) {
    if (child.type?.type === "reference" && child.type.name === "Rule")
      child.type = child.type.typeArguments[0];
    child.setFlag(ReflectionFlag.Optional, true);
    delete child.defaultValue;
  }
  parameter.type = first;
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
  const names = [
    ...kOptionTypes.map((ending) => owner.name + ending),
    ...types,
    ...optionTypesBeside(owner),
  ];
  const [option] = names.flatMap((typeName) => {
    const found = owner.parent.getChildByName(typeName)?.getChildByName(name);
    return found?.comment ? [found] : [];
  });
  return option && new Comment(Comment.cloneDisplayParts(option.comment.summary));
}

// The options of several classes are declared in the file of these.
function optionTypesBeside(owner) {
  const file = placeOf(owner)?.file;
  return (owner.parent.children ?? [])
    .filter(({ name }) => /(?:Options|Settings)$/.test(name))
    .filter((one) => placeOf(one)?.file === file)
    .map(({ name }) => name);
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
