// The checksum of zip archives, computed for eight bytes at a time.

const kPolynomial = 0xedb88320;
const kTables = 8;

// Table i has, for each byte, the checksum of that byte followed by i zero bytes.
function makeTables(): Uint32Array {
  const tables = new Uint32Array(kTables * 256);
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
  // Words begin at multiples of four of the buffer. They are little-endian on every machine that runs WebAssembly.
  const head = -bytes.byteOffset & 3;
  const count = Math.max(0, Math.floor((bytes.length - head) / 8));
  if (count === 0) return ~ofBytes(tables, bytes, ~before) >>> 0;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + head, 2 * count);
  const sum = ofWords(tables, words, ofBytes(tables, bytes.subarray(0, head), ~before));
  return ~ofBytes(tables, bytes.subarray(head + 8 * count), sum) >>> 0;
}

// The elements exist in both; without assertions the loops would check for undefined.
function ofBytes(table: Uint32Array, bytes: Uint8Array, before: number): number {
  let sum = before;
  for (let i = 0; i < bytes.length; i++) {
    sum = (sum >>> 8) ^ (table[(sum ^ (bytes[i] as number)) & 0xff] as number);
  }
  return sum;
}

function ofWords(table: Uint32Array, words: Uint32Array, before: number): number {
  let sum = before;
  for (let i = 0; i < words.length; i += 2) {
    const low = sum ^ (words[i] as number);
    const high = words[i + 1] as number;
    sum =
      (table[1792 + (low & 0xff)] as number) ^
      (table[1536 + ((low >>> 8) & 0xff)] as number) ^
      (table[1280 + ((low >>> 16) & 0xff)] as number) ^
      (table[1024 + (low >>> 24)] as number) ^
      (table[768 + (high & 0xff)] as number) ^
      (table[512 + ((high >>> 8) & 0xff)] as number) ^
      (table[256 + ((high >>> 16) & 0xff)] as number) ^
      (table[high >>> 24] as number);
  }
  return sum;
}
