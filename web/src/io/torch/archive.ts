// The present form of torch.save: a zip archive with the pickle and each storage as files in one folder.

import { reject } from "../broken_file.js";
import { readBytes, type Source } from "../sources/source.js";
import { readValue, type TorchFile } from "./torch_file.js";
import { contentOf, readDirectory, type ZipEntry } from "./zip_reader.js";

const kPickle = "data.pkl";

/** Returns the value of an archive; must be called inside readingLater(). */
export async function archivedFile(source: Source): Promise<TorchFile> {
  const entries = await readDirectory(source);
  const pickle = pickleIn(entries);
  const folder = pickle.name.slice(0, -kPickle.length);
  await checkByteOrder(source, entries.get(`${folder}byteorder`));
  const { value, plans } = readValue(await wholeContent(source, pickle), 0);
  return {
    value,
    plans,
    storage: (key) => {
      const entry = entries.get(`${folder}data/${key}`);
      if (entry === undefined) reject(`its storage ${JSON.stringify(key)} is missing.`);
      return { size: entry.size, pieces: () => contentOf(source, entry) };
    },
  };
}

function pickleIn(entries: ReadonlyMap<string, ZipEntry>): ZipEntry {
  const found = [...entries.values()].filter(({ name }) => /^(?:[^/]+\/)?data\.pkl$/.test(name));
  const [first] = found;
  if (first === undefined || found.length > 1) {
    reject("it is a zip archive, but not one of torch.save, which has one data.pkl.");
  }
  const folder = first.name.slice(0, -kPickle.length);
  if (entries.has(`${folder}constants.pkl`)) {
    reject(
      "it is a TorchScript program of torch.jit.save, which is code. Save the state_dict() of the model with torch.save.",
    );
  }
  return first;
}

async function checkByteOrder(source: Source, entry: ZipEntry | undefined): Promise<void> {
  // Files before PyTorch 2.1 do not say it; PyTorch reads them as little-endian too.
  if (entry === undefined) return;
  const order = new TextDecoder().decode((await wholeContent(source, entry)).slice());
  if (order !== "little") {
    reject(
      `its byte order is ${JSON.stringify(order.slice(0, 20))}. Save it on a little-endian machine.`,
    );
  }
}

async function wholeContent(source: Source, entry: ZipEntry): Promise<Uint8Array> {
  const content = { name: entry.name, size: entry.size, pieces: () => contentOf(source, entry) };
  return readBytes({ ...content, close: async () => {} }, 0, entry.size);
}
