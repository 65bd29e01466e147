// A class of the reference lists the members that it inherits instead of repeating their pages' text: a layer has 60 of nn.Module, and a
// parameter 700 of Tensor.

import { ReflectionKind } from "typedoc";

/** The inherited members by class: [[base, names], ...]. */
const kInherited = new WeakMap();

/** Whether a member is inherited; called before anything removes the sign of it. */
export function isInherited(reflection) {
  return (
    reflection.inheritedFrom !== undefined &&
    reflection.parent.kindOf(ReflectionKind.ClassOrInterface)
  );
}

/** Removes inherited members that a documented base has, and remembers their names. */
export function foldInherited(members, project) {
  // The bases keep theirs until all members of derived classes are known.
  const owned = members.map((member) => [member, ownerOf(member)]);
  const found = owned.filter(([, base]) => base);
  for (const [member, base] of owned) if (!base) forgetOrigin(member);
  for (const [{ parent, name }, base] of found) {
    if (!kInherited.has(parent)) kInherited.set(parent, new Map());
    const lists = kInherited.get(parent);
    lists.set(base, [...(lists.get(base) ?? []), name]);
  }
  for (const [member] of found) project.removeReflection(member);
}

// The page of the base that the member is from does not exist.
function forgetOrigin(member) {
  for (const signature of [member, member.getSignature, ...(member.signatures ?? [])])
    if (signature) delete signature.inheritedFrom;
}

/** Returns what a class inherits, as [base, members] by base. */
export function inheritedOf(reflection) {
  return [...(kInherited.get(reflection) ?? [])].map(([base, names]) => [
    base,
    names.map((name) => base.getChildByName(name)).filter(Boolean),
  ]);
}

// The documented base that has the member: the nearest one that defines it, or the last one, whose own bases are not documented.
function ownerOf({ parent, name, kind }) {
  if (kind === ReflectionKind.Constructor) return null;
  const seen = new Set([parent]);
  let owner = null;
  for (let base = baseOf(parent); base && !seen.has(base); base = baseOf(base)) {
    seen.add(base);
    const member = base.getChildByName(name);
    if (member === undefined) continue;
    owner = base;
    if (!kIsInherited.has(member)) break;
  }
  return owner;
}

const baseOf = ({ extendedTypes = [] }) =>
  extendedTypes
    .map(({ reflection }) => reflection)
    .find((base) => base?.kindOf(ReflectionKind.ClassOrInterface));

const kIsInherited = new WeakSet();

/** Remembers that a member is inherited. */
export function rememberInherited(member) {
  kIsInherited.add(member);
}
