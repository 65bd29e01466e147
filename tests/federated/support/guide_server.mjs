// A server with the configuration of docs/guide/federated.md, and the keys of those whom it lets in.

import { readFileSync } from "node:fs";
import { nkeyAuthenticator, nkeys } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { startNats } from "../../../examples/support/nats_server.mjs";
import { kRoot } from "../../js/support/files.mjs";

const kNames = ["coordinator", "alice", "bob"];
const keys = Object.fromEntries(kNames.map((name) => [name, nkeys.createUser()]));

/** The seed of somebody's key. */
export const seedOf = (name) => new TextDecoder().decode(keys[name].getSeed());

/** The public key of somebody. */
export const keyOf = (name) => keys[name].getPublicKey();

const textOfGuide = () => {
  const guide = readFileSync(`${kRoot}docs/guide/federated.md`, "utf8");
  return /```text\njetstream \{.*\}\n([\s\S]*?)```/.exec(guide)[1];
};

/** The subjects to which the guide lets alice publish. */
export function subjectsOfAlice() {
  const [, list] = /ALICE[\s\S]*?publish: \[([\s\S]*?)\]/.exec(textOfGuide());
  return [...list.matchAll(/"([^"]*)"/g)].map(([, subject]) => subject);
}

/** The configuration of the guide, with a second client like the first. */
function configuration() {
  const text = textOfGuide();
  const [alice] = /\{ nkey: ALICE[\s\S]*?\} \}/.exec(text);
  const bob = alice.replaceAll("alice", "bob").replace("ALICE", "BOB");
  return text
    .replace(alice, `${alice}\n${bob}`)
    .replace(/COORDINATOR|ALICE|BOB/g, (name) => keyOf(name.toLowerCase()));
}

/** Starts the server; `more` is added to the configuration. */
export const startGuideServer = (more = "") => startNats({ config: `${configuration()}\n${more}` });

/** Connects as somebody. */
export const connectAs = (servers, name) =>
  connect({
    servers,
    authenticator: nkeyAuthenticator(keys[name].getSeed()),
    inboxPrefix: `_INBOX_${name}`,
  });
