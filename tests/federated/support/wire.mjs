// What passes through a server, which everybody who is connected may hear: by that, tests know what coordinators and clients have done.

import { connect } from "@nats-io/transport-node";
import { soon } from "../../support/until.mjs";
import { leaveAtEnd } from "./leaving.mjs";

/** The messages of a subject, from now on and in their order. */
export class Wire {
  #connection;
  #messages = [];
  #wake = () => {};

  constructor(connection) {
    this.#connection = connection;
  }

  static async open(servers, subject) {
    const connection = await connect({ servers });
    const wire = new Wire(connection);
    leaveAtEnd(() => wire.close());
    connection.subscribe(subject, {
      callback: (_, message) => {
        wire.#messages.push(message);
        wire.#wake();
      },
    });
    // The server knows of the subscription.
    await connection.flush();
    return wire;
  }

  /** Resolves to the next message that fits, and passes over those before. */
  next(missing, fits = () => true) {
    return soon(missing, this.#next(fits));
  }

  /** Resolves when so many more messages have passed. */
  async pass(count) {
    for (let i = 0; i < count; i++) await this.next(`message ${i + 1} of ${count}`);
  }

  /** Forgets the messages that have passed. */
  async skip() {
    await this.#connection.flush();
    this.#messages.length = 0;
  }

  close() {
    return this.#connection.close();
  }

  async #next(fits) {
    for (;;) {
      while (this.#messages.length > 0) {
        const message = this.#messages.shift();
        if (fits(message)) return message;
      }
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
