// Lists, deletes and controls the runs of a server.

import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { KV, Kvm } from "@nats-io/kv";
import { fail } from "../../errors/errors.js";
import { connectTo, readConnection } from "../../nats/connection.js";
import { isMissing } from "../../nats/failures.js";
import { booleanFrom, integerFrom, readOptions } from "../../nats/options.js";
import { loadClientPackages, loadKeyValue } from "../../nats/packages.js";
import {
  type Control,
  controlFrom,
  kControlKey,
  kLeaderKey,
  kRecordKey,
  kRolloutKey,
  namesOf,
} from "../names.js";
import { parseRecord, type RunRecord } from "../record.js";
import { ownRevision } from "../rollout.js";
import type { RunStatus } from "../run_status.js";
import { kFirstSecureRecord } from "../secure/record.js";

const kBucket = /^KV_edgegrad_(.+)$/;
const kMostStreams = 1000;

/** A server, as an operator reaches it. */
export interface Server {
  readonly where: string;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly kvm: Kvm;
}

/** Calls a function with a connection, which it closes. */
export async function withServer<T>(
  where: string,
  { servers, credentials }: Readonly<Record<string, unknown>>,
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const connection = await connectTo(
    where,
    readConnection(where, servers, credentials),
    "operator",
  );
  try {
    const { jetstream } = await loadClientPackages(where);
    const { Kvm } = await loadKeyValue(where);
    const js = jetstream.jetstream(connection);
    const jsm = await jetstream.jetstreamManager(connection);
    return await use({ where, js, jsm, kvm: new Kvm(js) });
  } finally {
    await connection.close();
  }
}

/** Returns the runs of a server. */
export function listRuns(given: unknown): Promise<RunStatus[]> {
  const where = "listRuns";
  const options = readOptions(where, ["servers", "credentials"], given);
  return withServer(where, options, async (server) => {
    const found: RunStatus[] = [];
    const list = server.jsm.streams.names();
    for await (const name of list) {
      const run = kBucket.exec(name)?.[1];
      const status = run === undefined ? null : await statusOf(server, run);
      if (status !== null && found.length < kMostStreams) found.push(status);
    }
    return found.sort((a, b) => (a.run < b.run ? -1 : 1));
  });
}

async function statusOf(server: Server, run: string): Promise<RunStatus | null> {
  const opened = await open(server, run);
  if (opened === null) return null;
  const { kv, record } = opened;
  const { state, round, rounds, strategy, selected, kept, rollout } = record;
  const control = await kv.get(kControlKey);
  const sizes = await Promise.all(
    streamsOf(run).map(async (name) => (await infoOf(server.jsm, name))?.state.bytes ?? 0),
  );
  return {
    run,
    state,
    round,
    rounds,
    strategy,
    control: controlFrom(control?.string()),
    leader: await leaderOf(kv),
    clients: state === "open" ? selected : [],
    revision: ownRevision(record).name,
    rollout: rollout === undefined ? null : { revision: rollout.name, share: rollout.share },
    keptRounds: kept.map((checkpoint) => checkpoint.round),
    bestRound: kept.find((checkpoint) => checkpoint.isBest)?.round ?? null,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}

/** Deletes a run. */
export function deleteRun(given: unknown): Promise<void> {
  const where = "deleteRun";
  const options = readOptions(where, ["servers", "credentials", "run", "force"], given);
  const { run } = namesOf(where, options.run);
  const force = booleanFrom(where, "force", options.force ?? false);
  return withServer(where, options, async (server) => {
    const { jsm, kvm } = server;
    const [keys = ""] = streamsOf(run);
    if ((await infoOf(jsm, keys)) === null) noSuchRun(where, run);
    if (!force) checkFree(where, run, await leaderOf(await kvm.open(namesOf(where, run).bucket)));
    for (const name of streamsOf(run)) {
      if ((await infoOf(jsm, name)) !== null) await jsm.streams.delete(name);
    }
  });
}

/** Writes what the coordinators of a run are to do. */
export function controlRun(where: string, given: unknown, control: Control): Promise<void> {
  const options = readOptions(where, ["servers", "credentials", "run"], given);
  const { run } = namesOf(where, options.run);
  return withServer(where, options, async (server) => {
    const { kv } = (await open(server, run)) ?? noSuchRun(where, run);
    await kv.put(kControlKey, control);
  });
}

/** Continues a run after an earlier round. */
export function rollBackRun(given: unknown): Promise<void> {
  const where = "rollBackRun";
  const known = ["servers", "credentials", "run", "round", "force"];
  const options = readOptions(where, known, given);
  const { run, updates } = namesOf(where, options.run);
  const wanted =
    options.round === "best" ? null : integerFrom(where, "round", options.round, { least: 1 });
  const force = booleanFrom(where, "force", options.force ?? false);
  return withServer(where, options, async (server) => {
    const { kv, record, revision } = (await open(server, run)) ?? noSuchRun(where, run);
    if (!force) checkFree(where, run, await leaderOf(kv));
    const to = record.kept.find((checkpoint) =>
      wanted === null ? checkpoint.isBest : checkpoint.round === wanted,
    );
    if (to === undefined) {
      const rounds = record.kept.map((checkpoint) => checkpoint.round).join(", ") || "none";
      const advice = "serve({ keepRounds, keepBest }) says which are kept.";
      fail("InvalidArgument", where, `round: of "${run}" are kept ${rounds}. ${advice}`);
    }
    const { round } = to;
    if (record.last?.epsilon !== undefined) {
      const message = `run "${run}" is private, and cannot go back: its epsilon is spent`;
      fail("InvalidArgument", where, `${message}. Begin another run with these weights.`);
    }
    if (record.fragment !== undefined) {
      fail("InvalidArgument", where, `run "${run}" trains fragments in turn, and cannot go back.`);
    }
    const { rollout: _, ...rest } = record;
    const next: RunRecord = {
      ...rest,
      revision: to.revision,
      state: "waiting",
      term: record.term + 1,
      round: round + 1,
      // Clients that have trained in that round before are asked again.
      attempt: record.attempt + 1,
      extensions: 0,
      weights: to.weights,
      progress: to.progress,
      selected: [],
      ...(record.secure && {
        secure: { ...kFirstSecureRecord, excluded: record.secure.excluded },
      }),
      kept: record.kept.filter((checkpoint) => checkpoint.round <= round),
      last: to.summary,
    };
    await kv.update(kRecordKey, JSON.stringify(next), revision);
    await kv.delete(kRolloutKey);
    await server.jsm.streams.purge(updates);
  });
}

/** Opens the bucket of a run; null if there is no such run. */
export async function open(
  { where, jsm, kvm }: Server,
  run: string,
): Promise<{ kv: KV; record: RunRecord; revision: number } | null> {
  const { bucket, keys } = namesOf(where, run);
  if ((await infoOf(jsm, keys)) === null) return null;
  const kv = await kvm.open(bucket);
  const entry = await kv.get(kRecordKey);
  if (entry === null) return null;
  return { kv, record: parseRecord(where, run, entry.value), revision: entry.revision };
}

function streamsOf(run: string): string[] {
  const { keys, objects, updates } = namesOf("runs", run);
  return [keys, objects, updates];
}

async function infoOf(jsm: JetStreamManager, name: string) {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function leaderOf(kv: KV): Promise<string | null> {
  const entry = await kv.get(kLeaderKey);
  return entry === null || entry.operation !== "PUT" ? null : entry.string();
}

function checkFree(where: string, run: string, leader: string | null): void {
  if (leader === null) return;
  const advice = "Stop it first; if it was killed, give `force`.";
  fail("InvalidArgument", where, `${leader} leads the run "${run}". ${advice}`);
}

/** Throws the error for a run that does not exist. */
export function noSuchRun(where: string, run: string): never {
  return fail("InvalidArgument", where, `there is no run "${run}" on this server.`);
}
