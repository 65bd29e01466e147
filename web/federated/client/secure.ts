// A client's steps in a secure round, which the record requests.

import { fail } from "../../errors/errors.js";
import type { RunRecord } from "../record.js";
import { checkAgreement } from "../secure/agreement.js";
import { toIntegers } from "../secure/fixed_point.js";
import { bytesOfIntegers } from "../secure/masks.js";
import { Participant } from "../secure/participant.js";
import type { SecureRecord, SecureStep } from "../secure/record.js";
import type { SecureSettings } from "../secure/settings.js";
import { type State, specOf } from "../update/state.js";
import type { Link } from "./link.js";

const kWhere = "join";

/** A client's side of secure rounds. */
export class SecureClient {
  #participant: Participant | null = null;

  constructor(
    readonly link: Link,
    readonly name: string,
  ) {}

  /** Returns the message of a step; null if the round continues without this client, or if the step is training. */
  async answer(record: RunRecord): Promise<Uint8Array | null> {
    const { attempt, step } = record.secure as SecureRecord;
    const { phase, clients, peers } = step as SecureStep;
    if (phase === "keys") {
      await checkAgreement(kWhere);
      const session = { run: this.link.names.run, round: record.round, attempt };
      this.#participant = await Participant.begin(session, this.name);
      return this.#participant.keys();
    }
    const participant = this.#participantOf(record);
    if (participant === null || peers === null) return null;
    if (phase === "shares") return participant.shares(await this.link.readObject(peers));
    return phase === "unmask" ? participant.unmask(clients) : null;
  }

  /** Returns the number of clients whose updates are masked together; null if the round continues without this client. */
  async beforeTraining(record: RunRecord): Promise<number | null> {
    const shares = record.secure?.step?.shares ?? null;
    const participant = this.#participantOf(record);
    if (participant === null || shares === null) return null;
    return participant.receive(await this.link.readObject(shares));
  }

  /** Returns the masked bytes of an update; null if it is beyond the range of the run. */
  async encode(
    record: RunRecord,
    trained: Readonly<State>,
    weights: Readonly<State>,
    samples: number,
    clients: number,
  ): Promise<Uint8Array | null> {
    const settings = record.client.secure as SecureSettings;
    if (samples > settings.samples) {
      const message = `samples: this run takes at most ${settings.samples} from train()`;
      fail("InvalidArgument", kWhere, `${message}, got ${samples}. See limits.samples of serve().`);
    }
    const spec = specOf(weights);
    const integers = toIntegers(trained, weights, spec, samples, clients, settings);
    if (integers === null) return null;
    await this.#participantOf(record)?.maskIntegers(integers);
    return bytesOfIntegers(integers);
  }

  #participantOf({ round, secure }: RunRecord): Participant | null {
    const participant = this.#participant;
    const isThis =
      participant?.session.round === round && participant.session.attempt === secure?.attempt;
    return isThis ? participant : null;
  }
}
