// Cyclic redundancy checks of 32 bits.

/** The polynomial of CRC-32, which PNG uses, with its bits reversed. */
export const kCrc32 = 0xedb88320;

/** The polynomial of CRC-32C (Castagnoli), which TensorBoard's event files use, with its bits reversed. */
export const kCrc32c = 0x82f63b78;

const tables = new Map<number, Uint32Array>();

function tableOf(polynomial: number): Uint32Array {
  let table = tables.get(polynomial);
  if (table === undefined) {
    table = Uint32Array.from({ length: 256 }, (_, byte) => {
      let value = byte;
      for (let bit = 0; bit < 8; bit++)
        value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
      return value;
    });
    tables.set(polynomial, table);
  }
  return table;
}

/** Returns the checksum of bytes. */
export function checksum(polynomial: number, bytes: Uint8Array): number {
  const table = tableOf(polynomial);
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] as number);
  return ~crc >>> 0;
}
