// Shamir's secret sharing, byte by byte in GF(256): any `threshold` shares reconstruct the secret, and fewer reveal nothing.

const kElements = 256;
// x^8 + x^4 + x^3 + x + 1, for which 3 generates all elements except 0.
const kPolynomial = 0x11b;

/** A share: the number of its owner, from 1, and as many bytes as the secret has. */
export interface Share {
  readonly place: number;
  readonly bytes: Uint8Array;
}

interface Tables {
  readonly power: Uint8Array;
  readonly logarithm: Uint8Array;
}

let tables: Tables | null = null;

function tablesOfField(): Tables {
  if (tables !== null) return tables;
  const power = new Uint8Array(2 * kElements);
  const logarithm = new Uint8Array(kElements);
  let element = 1;
  for (let i = 0; i < kElements - 1; i++) {
    power[i] = element;
    power[i + kElements - 1] = element;
    logarithm[element] = i;
    const doubled = element << 1;
    element = (doubled >= kElements ? doubled ^ kPolynomial : doubled) ^ element;
  }
  tables = { power, logarithm };
  return tables;
}

function times(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  const { power, logarithm } = tablesOfField();
  return power[(logarithm[a] as number) + (logarithm[b] as number)] as number;
}

function over(a: number, b: number): number {
  if (a === 0) return 0;
  const { power, logarithm } = tablesOfField();
  return power[(logarithm[a] as number) + kElements - 1 - (logarithm[b] as number)] as number;
}

/** Returns the shares 1 to `count`, which must be below 256. */
export function split(secret: Uint8Array, count: number, threshold: number): Uint8Array[] {
  const shares = Array.from({ length: count }, () => new Uint8Array(secret.length));
  const coefficients = new Uint8Array(threshold - 1);
  for (const [i, byte] of secret.entries()) {
    crypto.getRandomValues(coefficients);
    for (const [owner, share] of shares.entries()) {
      let value = 0;
      for (const coefficient of coefficients) value = times(value ^ coefficient, owner + 1);
      share[i] = value ^ byte;
    }
  }
  return shares;
}

/** Reconstructs the secret from `threshold` different shares. */
export function combine(shares: readonly Share[]): Uint8Array {
  const secret = new Uint8Array(shares[0]?.bytes.length ?? 0);
  for (const { place, bytes } of shares) {
    let factor = 1;
    for (const { place: other } of shares) {
      if (other !== place) factor = times(factor, over(other, other ^ place));
    }
    for (const [i, byte] of bytes.entries())
      secret[i] = (secret[i] as number) ^ times(factor, byte);
  }
  return secret;
}
