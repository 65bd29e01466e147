// Which functions and classes take an interface of options.

import { ReflectionKind } from "typedoc";

/** Returns for each interface the functions and classes that take it, or an array of it, in the order of `named`. */
export function usersOfInterfaces(named) {
  const users = new Map();
  for (const reflection of named.values())
    for (const taken of new Set(interfacesOf(reflection)))
      users.set(taken, [...(users.get(taken) ?? []), reflection]);
  return users;
}

function interfacesOf({ signatures, children }) {
  const called = signatures ?? children?.find(({ name }) => name === "constructor")?.signatures;
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
