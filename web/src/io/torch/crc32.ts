// The checksum of zip archives, computed for four bytes at a time.

const kPolynomial = 0xedb88320;

/** Returns four tables of 256 numbers: the checksum of a byte that is followed by 0 to 3 zero bytes. */
function makeTables(): Uint32Array {
  const tables = new Uint32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ kPolynomial : sum >>> 1;
    tables[byte] = sum;
  }
  for (let i = 256; i < tables.length; i++) {
    const sum = tables[i - 256] ?? 0;
    tables[i] = (sum >>> 8) ^ (tables[sum & 0xff] ?? 0);
  }
  return tables;
}

let tables: Uint32Array | undefined;

/** Returns the checksum of bytes that follow others with the checksum `before`. */
export function crc32(bytes: Uint8Array, before = 0): number {
  tables ??= makeTables();
  const table = tables;
  const whole = bytes.length - (bytes.length % 4);
  let sum = ~before;
  // The elements exist; without assertions the loop would check for undefined.
  for (let i = 0; i < whole; i += 4) {
    sum ^=
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    sum =
      (table[768 + (sum & 0xff)] as number) ^
      (table[512 + ((sum >>> 8) & 0xff)] as number) ^
      (table[256 + ((sum >>> 16) & 0xff)] as number) ^
      (table[sum >>> 24] as number);
  }
  for (let i = whole; i < bytes.length; i++) {
    sum = (sum >>> 8) ^ (table[(sum ^ (bytes[i] as number)) & 0xff] as number);
  }
  return ~sum >>> 0;
}
