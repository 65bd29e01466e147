// A zip archive of texts, the same bytes for the same texts.

import { crc32, deflateRawSync } from "node:zlib";

// 1980-01-01, the first day of the format.
const kDate = 33;

/** Returns an archive of files, a map from paths to texts. */
export function zipped(files) {
  const parts = [];
  const entries = [];
  let at = 0;
  for (const [path, text] of files) {
    const content = Buffer.from(text);
    const packed = deflateRawSync(content, { level: 9 });
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(kDate, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", "latin1");
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(at, 42);
    entries.push(entry, name);
    const header = [Buffer.from("PK\x03\x04", "latin1"), common, name, packed];
    parts.push(...header);
    at += header.reduce((sum, { length }) => sum + length, 0);
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}
