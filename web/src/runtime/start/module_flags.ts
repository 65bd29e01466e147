// Node's flags that say how modules are loaded, as TypeScript's runners set them: the engine's workers load modules of the program for
// spawn(). Workers do not inherit all flags, since some belong to the main script, such as --input-type.

const kWithValue = /^(?:--(?:import|require|(?:experimental-)?loader|conditions)|-r|-C)(?:$|=)/;
const kAlone = /^--(?:enable-source-maps|experimental-(?:strip|transform)-types|no-warnings)/;

/** Returns those of the flags of a process that its workers need. */
export function moduleFlags(flags: readonly string[]): string[] {
  return flags.filter((flag, i) => {
    // A value comes after its flag, or after "=" in it.
    const before = flags[i - 1] ?? "";
    const isValue = kWithValue.test(before) && !before.includes("=");
    return isValue || kWithValue.test(flag) || kAlone.test(flag);
  });
}
