// Which versions of clients a run accepts: ranges as npm's, of whole versions without pre-releases.

import { refuse } from "../../errors/errors.js";
import { parseVersion, type Version } from "../version.js";

const kComparator = /^(>=|<=|>|<|=|\^|~)?(\d.*)$/;
const kExpected = 'versions or ranges such as ">=1.2.0 <2.0.0", "^1.2.0" or ["1.2.0", "1.4.1"]';

/** The versions that a run accepts. */
export interface AcceptedVersions {
  /** The ranges as text; "" if all are accepted. */
  readonly text: string;
  /** Whether a version is accepted; a client without one has "". */
  accepts(version: string): boolean;
}

type Test = (version: Version) => boolean;

/** Reads the option of serve(). */
export function acceptedVersions(where: string, option: string, value: unknown): AcceptedVersions {
  if (value === undefined) return { text: "", accepts: () => true };
  const ranges = typeof value === "string" ? value.split("||") : value;
  const expect = () => refuse(where, option, kExpected, value);
  if (!Array.isArray(ranges) || ranges.length === 0) return expect();
  const tests = ranges.map((range) => (typeof range === "string" && rangeFrom(range)) || expect());
  return {
    text: ranges.map((range: string) => range.trim()).join(" || "),
    accepts(text) {
      const version = parseVersion(text);
      return version !== null && tests.some((test) => test(version));
    },
  };
}

/** Parses comparators of which all must hold; null if there are none, or others. */
function rangeFrom(text: string): Test | null {
  const tests = text.trim().split(/\s+/).map(comparatorFrom);
  if (tests.includes(null)) return null;
  return (version) => tests.every((test) => test?.(version));
}

function comparatorFrom(text: string): Test | null {
  const [, operator = "=", rest = ""] = kComparator.exec(text) ?? [];
  const bound = parseVersion(rest);
  if (bound === null) return null;
  const order = (version: Version) => compare(version, bound);
  switch (operator) {
    case ">=":
      return (version) => order(version) >= 0;
    case "<=":
      return (version) => order(version) <= 0;
    case ">":
      return (version) => order(version) > 0;
    case "<":
      return (version) => order(version) < 0;
    case "=":
      return (version) => order(version) === 0;
    default: {
      const end = endOf(operator, bound);
      return (version) => order(version) >= 0 && compare(version, end) < 0;
    }
  }
}

/** The first version beyond a range of compatible ones: ~ lets the patch change, ^ all after the first number that is not 0. */
function endOf(operator: string, [major, minor, patch]: Version): Version {
  if (operator === "~" || (major === 0 && minor > 0)) return [major, minor + 1, 0];
  return major === 0 ? [0, 0, patch + 1] : [major + 1, 0, 0];
}

function compare(a: Version, b: Version): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at === -1 ? 0 : (a[at] as number) - (b[at] as number);
}
