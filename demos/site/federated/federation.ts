// What the page runs: a coordinator and four devices in memory; or one device of a run that another program coordinates.

import type * as eg from "edgegrad";
import {
  type Client,
  type Coordinator,
  FedAvg,
  join,
  MemoryNetwork,
  serve,
} from "edgegrad/federated";
import { DigitStream, type Digits } from "../digits/digits.js";
import { startEngine } from "../shared/trainer.js";
import {
  accuracyOf,
  type DigitTensors,
  digitsBetween,
  kDevices,
  kDigitsEach,
  kSamplesOfRound,
  makeModel,
  trainRound,
} from "./task.js";

const kTestDigits = 1000;
const kDigitsOfDevice = 4000;
const kDeadlineMs = 2000;

/** A round of the devices in the page. */
export interface Round {
  readonly round: number;
  /** The shares of the test digits that the common model and each device's own recognize. */
  readonly together: number;
  readonly alone: readonly number[];
  readonly clients: readonly string[];
  readonly bytes: number;
}

/** A round of a device in a run elsewhere. */
export interface DeviceRound {
  readonly round: number;
  readonly accuracy: number;
}

/** How the devices learn. */
export interface RunChoice {
  readonly rounds: number;
  readonly isSecure: boolean;
  readonly isCompressed: boolean;
}

/** The federation of the page, in its worker. */
export class Federation {
  #digits: readonly Digits[] = [];
  #test: DigitTensors | null = null;
  #devices: DigitTensors[] = [];
  #coordinator: Coordinator | null = null;
  #clients: (Client | null)[] = [];
  #joinDevice: ((device: number) => Promise<void>) | null = null;

  /** Starts the engine and loads digits from a folder; `watch` receives the share that has arrived. */
  async start(folder: string, watch: (share: number) => void): Promise<eg.RuntimeInfo> {
    const runtime = await startEngine("cpu");
    const stream = new DigitStream(folder, watch);
    await stream.done;
    this.use(stream.train, stream.test as Digits);
    return runtime;
  }

  /** Takes the digits that the devices and the tests choose from. */
  use(train: readonly Digits[], test: Digits): void {
    this.#digits = train;
    this.#test = digitsBetween([test], 0, kDevices * kDigitsEach, kTestDigits);
  }

  #digitsOf(device: number): DigitTensors {
    const first = device * kDigitsEach;
    this.#devices[device] ??= digitsBetween(
      this.#digits,
      first,
      first + kDigitsEach,
      kDigitsOfDevice,
    );
    return this.#devices[device];
  }

  /** Has four devices learn together, and each alone. Resolves when all rounds are over, or stop() was called. */
  async run(choice: RunChoice, report: (round: Round) => void): Promise<void> {
    const test = this.#test as DigitTensors;
    const own = Array.from({ length: kDevices }, makeModel);
    const run = { servers: new MemoryNetwork(), run: "page", model: makeModel };
    const alone = own.map(() => 0);
    let together = 0;
    const coordinator = await serve({
      ...run,
      strategy: new FedAvg(),
      rounds: choice.rounds,
      minClients: 2,
      deadline: kDeadlineMs,
      ...(choice.isSecure && { secureAggregation: { handshake: kDeadlineMs } }),
      ...(choice.isCompressed && { compression: { dtype: "int8" as const } }),
      evaluate: ({ model }) => {
        together = accuracyOf(model as eg.nn.Sequential, test);
        return { together };
      },
      onRound: ({ round, clients, bytesUp: bytes }) => {
        // One in each round, because it takes longer than training.
        const next = round % kDevices;
        alone[next] = accuracyOf(own[next] as eg.nn.Sequential, test);
        report({ round, together, alone, clients, bytes });
      },
    });
    this.#coordinator = coordinator;
    this.#joinDevice = async (device) => {
      const digits = this.#digitsOf(device);
      this.#clients[device] = await join({
        ...run,
        name: `device-${device + 1}`,
        secureAggregation: choice.isSecure,
        train: async ({ model }) => {
          // Messages of the page are handled in between.
          await new Promise((turn) => setTimeout(turn));
          const loss = trainRound(model as eg.nn.Sequential, digits);
          trainRound(own[device] as eg.nn.Sequential, digits);
          return { samples: kSamplesOfRound, metrics: { loss } };
        },
      });
    };
    try {
      for (let device = 0; device < kDevices; device++) await this.#joinDevice(device);
      await coordinator.finished;
    } finally {
      this.#joinDevice = null;
      await Promise.all(this.#clients.map((client) => client?.leave()));
      this.#clients = [];
      this.#coordinator = null;
    }
  }

  /** Switches a device on or off. */
  async setOnline(device: number, isOnline: boolean): Promise<void> {
    const client = this.#clients[device] ?? null;
    this.#clients[device] = null;
    await client?.leave();
    if (isOnline) await this.#joinDevice?.(device);
  }

  /** Takes part, as one device, in a run of another program; resolves when it has ended. */
  async joinRun(
    servers: string,
    run: string,
    device: number,
    report: (round: DeviceRound) => void,
  ): Promise<void> {
    const test = this.#test as DigitTensors;
    const digits = this.#digitsOf(device);
    const client = await join({
      servers,
      run,
      model: makeModel,
      train: async ({ model, round }) => {
        report({ round, accuracy: accuracyOf(model as eg.nn.Sequential, test) });
        const loss = trainRound(model as eg.nn.Sequential, digits);
        return { samples: kSamplesOfRound, metrics: { loss } };
      },
    });
    this.#clients = [client];
    await client.finished;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client?.leave()));
    await this.#coordinator?.stop();
  }
}
