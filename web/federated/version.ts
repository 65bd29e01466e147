// The version of a client, as in semantic versioning (semver.org), without pre-releases.

import { refuse } from "../errors/errors.js";

const kVersion = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

/** Major, minor and patch. */
export type Version = readonly [number, number, number];

/** Parses a version; null if it is none. */
export function parseVersion(text: string): Version | null {
  const found = kVersion.exec(text);
  return found && [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Checks that an option is a version and returns it; throws InvalidArgument otherwise. */
export function versionFrom(where: string, option: string, value: unknown): string {
  if (typeof value === "string" && parseVersion(value) !== null) return value;
  return refuse(where, option, 'a version such as "1.2.0"', value);
}
