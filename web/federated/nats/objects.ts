// Reads objects message by message, which needs no consumer. Clients must not be allowed to create consumers, because the server delivers
// a consumer's messages to any subject that its creator names.

import type { JetStreamManager } from "@nats-io/jetstream";
import { fail } from "../../errors/errors.js";
import { digestOf } from "../digest.js";
import type { RunNames } from "../names.js";
import type { StoredObject } from "../stored_object.js";

/** Thrown if an object no longer exists because a newer one has replaced it. */
export class ObjectGone extends Error {}

/** Returns the bytes of an object; throws InvalidArgument if they are damaged. */
export async function readObject(
  where: string,
  jsm: JetStreamManager,
  { bucket, objects }: RunNames,
  { name, nuid, chunks, size, digest }: StoredObject,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  let seq = 1;
  for (let i = 0; i < chunks; i++) {
    const query = { seq, next_by_subj: `$O.${bucket}.C.${nuid}` };
    const message = await jsm.direct.getMessage(objects, query);
    if (message === null) throw new ObjectGone(name);
    if (at + message.data.length > size) break;
    bytes.set(message.data, at);
    at += message.data.length;
    seq = message.seq + 1;
  }
  if (at !== size || (await digestOf(bytes)) !== digest) {
    fail("InvalidArgument", where, `the object ${name} of ${bucket} is damaged.`);
  }
  return bytes;
}
