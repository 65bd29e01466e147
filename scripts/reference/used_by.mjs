// Which functions and classes take an interface of options: their signatures say it, or, where options are also parameters, the name.

import { ReflectionKind } from "typedoc";

/** Returns for each of the interfaces the functions and classes that take it, in the order of `named`. */
export function usersOfInterfaces(interfaces, named) {
  const users = new Map(interfaces.map((one) => [one, namedAlike(one, named)]));
  for (const reflection of named.values())
    for (const taken of new Set(interfacesOf(reflection)))
      users.set(taken, [...new Set([...(users.get(taken) ?? []), reflection])]);
  return users;
}

// ConvTranspose1d, 2d and 3d for ConvTransposeOptions; stft for StftOptions.
function namedAlike({ name, parent }, named) {
  if (!name.endsWith("Options")) return [];
  const start = name.slice(0, -"Options".length);
  const pattern = new RegExp(`^(Lazy)?${start}([123]d|Cell)?$`, "i");
  return [...named.values()].filter((one) => one.parent === parent && pattern.test(one.name));
}

// What a function, or a constructor or method of a class, takes.
function interfacesOf({ signatures, children }) {
  const called =
    signatures ??
    children?.filter(({ inheritedFrom }) => !inheritedFrom).flatMap((one) => one.signatures ?? []);
  const types = (called ?? []).flatMap(({ parameters = [] }) => parameters.map(({ type }) => type));
  return types
    .flatMap(namedIn)
    .filter((reflection) => reflection?.kindOf?.(ReflectionKind.Interface));
}

function namedIn(type) {
  if (type?.type === "reference")
    return [type.reflection, ...(type.typeArguments ?? []).flatMap(namedIn)];
  return [...(type?.types ?? []), type?.elementType].filter(Boolean).flatMap(namedIn);
}
