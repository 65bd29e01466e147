// Node's flags that say how modules are loaded, as TypeScript's runners set them (tsx, ts-node): the engine's workers load modules of
// the program for spawn(). Workers do not inherit all flags, since some belong to the main script, such as --input-type.

const kWithValue =
  /^(?:--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(?<value>=.*)?$/;
const kAlone =
  /^--(?:enable-source-maps|experimental-strip-types|experimental-transform-types|preserve-symlinks|no-warnings|disable-warning=.*)$/;

/** Returns those of the flags of a process that its workers need. */
export function moduleFlags(flags: readonly string[]): string[] {
  return flags.flatMap((flag, i) => {
    if (kAlone.test(flag)) return [flag];
    const match = kWithValue.exec(flag);
    if (match === null) return [];
    const value = flags[i + 1];
    return match.groups?.value !== undefined || value === undefined ? [flag] : [flag, value];
  });
}
