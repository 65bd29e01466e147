// Signals between coordinators and clients over NATS.

import type { NatsConnection } from "@nats-io/nats-core";
import { clientIn, type RunNames } from "../names.js";

/** The signals of one run. */
export class NatsSignals {
  constructor(
    readonly connection: NatsConnection,
    readonly names: RunNames,
  ) {}

  onHere(heard: (client: string, said: string) => void): void {
    this.connection.subscribe(this.names.presenceOf("*"), {
      callback: (error, message) => {
        if (error === null) heard(clientIn(message.subject), message.string());
      },
    });
  }

  ask(): void {
    this.connection.publish(this.names.who);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
