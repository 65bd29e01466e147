import { describe, fail } from "../runtime/errors/errors.js";

/**
 * Throws InvalidArgument for a value at a path that a file cannot contain. `storable` names the values that it can contain; the
 * message ends with it where nothing more exact can be said.
 */
export function refuseToStore(
  where: string,
  path: string,
  value: unknown,
  storable: string,
): never {
  const hasState = typeof (value as { stateDict?: unknown } | undefined)?.stateDict === "function";
  const subject = path === "" ? "the value" : JSON.stringify(path);
  const advice = hasState ? "Save its stateDict()." : storable;
  fail(
    "InvalidArgument",
    where,
    `${subject} cannot be stored: it is ${describe(value)}. ${advice}`,
  );
}

/** Returns the path of a value in another one, for messages. */
export function joinedPath(path: string, key: string | number): string {
  return path === "" ? `${key}` : `${path}.${key}`;
}
