// Why a test does not pass: the vocabulary of the files in expected/, and the rules by which `--write` chooses a reason for a test that
// is new there. The rules see "TEST | LINE OF THE TEST | ERROR"; the first that matches counts. A reason written by hand stays.

const kRules = [];

export const kUnclassified = "unclassified";

/** Returns the reason for the outcome of a test that did not pass. */
export function reasonFor({ test, at = "", reason = "" }) {
  const text = `${test} | ${at} | ${reason}`.replaceAll("\n", " ");
  return kRules.find(([, pattern]) => pattern.test(text))?.[0] ?? kUnclassified;
}
