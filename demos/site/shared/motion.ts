// What visitors prefer of motion.

/** Whether pages should move only where it is needed. */
export function movesLittle(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
