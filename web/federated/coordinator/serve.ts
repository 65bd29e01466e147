// Begins or continues a run.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { isForbidden, isOutOfRoom } from "../../nats/failures.js";
import type { Revised } from "../nats/storage.js";
import { RdpAccountant } from "../privacy/accountant.js";
import { kFormat, type RunRecord } from "../record.js";
import { kPhases } from "../secure/phases.js";
import { kFirstSecureRecord } from "../secure/record.js";
import { kUsualSecureSamples, type SecureSettings } from "../secure/settings.js";
import { signerOf } from "../signatures.js";
import { credentialsOf, openStore, type Store } from "../transport.js";
import type { InboxLimits } from "../update/assembly.js";
import { withoutControls } from "../update/control.js";
import { copyOf, free } from "../update/state.js";
import { Coordinator } from "./coordinator.js";
import { knownClients } from "./known.js";
import { type ReadServeOptions, readServeOptions, type ServeOptions } from "./options.js";
import { encodeProgress } from "./progress.js";

const kWhere = "serve";
const kMoreBytes = 64 * 1024;
// The bytes of the shares for the maximum number of clients of a secure round.
const kMoreSecureBytes = 256 * 1024;
const kPartBytes = 512 * 1024;
const kUsualAttempts = 2;
// More than one for each attempt: a client that is started again sends its update again.
const kUpdatesPerAttempt = 2;

/** See serve() of the entry. */
export async function serve(options: ServeOptions): Promise<Coordinator> {
  const read = readServeOptions(options);
  const id = `coordinator_${globalThis.crypto.randomUUID().slice(0, 8)}`;
  if (read.secure !== undefined) {
    const { checkAgreement } = await import("../secure/agreement.js");
    await checkAgreement(kWhere);
  }
  const model = modelOf(read);
  const state = eg.scope(() => copyOf(read.strategy.stateOfRun(model.stateDict())));
  const bytes = eg.io.saveSafetensors(state);
  const keys = read.strategy.keysOf(state, 1);
  free(state);
  const known = await knownClients(kWhere, read.names.run, read.clients);
  const sign = await signerOf(kWhere, credentialsOf(read.place));
  const limits = { ...limitsOf(read, bytes.length), verify: known.verify };
  const { messages } = limits;
  const kept = { messages, streamBytes: read.limits.streamBytes, replicas: read.replicas };
  let close = async () => {};
  try {
    const { storage, signals } = await openStore(kWhere, read.place, read.names, id, kept);
    close = () => signals.close();
    const record = (await storage.readRecord()) ?? (await begin(storage, read, bytes, keys));
    checkRun(record.value, read);
    const weights = eg.io.loadSafetensors(await storage.readObject(kWhere, record.value.weights));
    model.loadStateDict(withoutControls(weights));
    free(weights);
    return new Coordinator(
      { options: read, signals, storage, model, record, limits, known, sign },
      id,
    );
  } catch (error) {
    await close();
    if (isOutOfRoom(error)) {
      const message = `the server has no room for the run: ${(error as Error).message}`;
      const advice = "Delete runs, raise its limits (max_file_store), or set limits.streamBytes.";
      fail("InvalidArgument", kWhere, `${message}. ${advice}`);
    }
    if ((error as Error).name === "JetStreamApiError") {
      const message = `the server refuses to store the run: ${(error as Error).message}`;
      fail("InvalidArgument", kWhere, `${message}. See limits.streamBytes and replicas.`);
    }
    if (!isForbidden(error)) throw error;
    const advice = "A coordinator needs those of docs/guide/federated.md.";
    return fail("InvalidArgument", kWhere, `the server lacks permissions: ${error}. ${advice}`);
  }
}

function modelOf({ model, seed }: ReadServeOptions): eg.nn.Module {
  eg.manualSeed(seed);
  const made: unknown = model();
  if (made instanceof eg.nn.Module) return made;
  return fail("InvalidArgument", kWhere, "model: expected a function that returns an nn.Module.");
}

function limitsOf({ limits, secure }: ReadServeOptions, size: number): Omit<InboxLimits, "verify"> {
  const more = secure === undefined ? kMoreBytes : kMoreSecureBytes;
  const updateBytes = limits.updateBytes ?? 2 * size + more;
  const parts = Math.ceil(updateBytes / kPartBytes);
  const attempts = limits.attempts ?? kUsualAttempts;
  const files = kUpdatesPerAttempt * attempts + (secure === undefined ? 0 : kPhases.length);
  return { updateBytes, attempts, messages: limits.messages ?? files * (parts + 1) };
}

/** The settings of secure aggregation that clients need. */
function secureSettings({ secure, limits }: ReadServeOptions): SecureSettings | undefined {
  if (secure === undefined) return undefined;
  return { range: secure.range, samples: limits.samples ?? kUsualSecureSamples };
}

/** Stores the first weights and the first record. If several coordinators do this at the same time, one wins. */
async function begin(
  storage: Store,
  options: ReadServeOptions,
  bytes: Uint8Array,
  keys: readonly string[] | null,
): Promise<Revised<RunRecord>> {
  const { rounds, strategy, compression } = options;
  const stamp = globalThis.crypto.randomUUID().slice(0, 8);
  const progress = encodeProgress(strategy, new RdpAccountant());
  const first: RunRecord = {
    format: kFormat,
    id: globalThis.crypto.randomUUID(),
    term: 0,
    state: "waiting",
    round: 1,
    rounds,
    strategy: strategy.constructor.name,
    weights: await storage.putObject(`weights-0-${stamp}`, bytes),
    progress: await storage.putObject(`progress-0-${stamp}`, progress),
    revision: { name: "", config: options.config },
    selected: [],
    sampling: { probability: 1, expected: 0 },
    attempt: 1,
    extensions: 0,
    spent: 0,
    deadline: 0,
    client: { ...strategy.client, compression, secure: secureSettings(options) },
    ...(keys && { fragment: { keys, weights: null } }),
    ...(options.secure && { secure: kFirstSecureRecord }),
    kept: [],
    last: null,
  };
  await storage.createRecord(first);
  return (
    (await storage.readRecord()) ??
    fail("InvalidArgument", kWhere, "the record of the run has been deleted.")
  );
}

/** Throws if options differ that cannot change after a run has begun. */
function checkRun(record: RunRecord, options: ReadServeOptions): void {
  const { strategy, compression, names } = options;
  const refuse = (what: string, stored: unknown, given: unknown): never => {
    const found = `run "${names.run}" was begun with ${what} ${JSON.stringify(stored)}`;
    const advice = "Choose another name for another run.";
    return fail("InvalidArgument", kWhere, `${found}, got ${JSON.stringify(given)}. ${advice}`);
  };
  const { name } = strategy.constructor;
  if (record.strategy !== name) refuse("strategy", record.strategy, name);
  const { compression: stored, mu, secure } = record.client;
  const wanted = secureSettings(options);
  if (JSON.stringify(stored) !== JSON.stringify(compression)) {
    refuse("compression", stored ?? null, compression ?? null);
  }
  if (JSON.stringify(secure) !== JSON.stringify(wanted)) {
    refuse("secure aggregation", secure ?? null, wanted ?? null);
  }
  if (mu !== strategy.client.mu) refuse("mu", mu, strategy.client.mu);
}
