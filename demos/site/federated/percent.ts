/** A share as text. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
