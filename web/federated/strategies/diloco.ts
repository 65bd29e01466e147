// DiLoCo (Douillard et al. 2023): clients take many steps of their own optimizer, and the coordinator takes one step of SGD with momentum.

import { booleanFrom, integerFrom, numberFrom, readOptions } from "../../nats/options.js";
import { at, type State } from "../update/state.js";
import { fragmentOf } from "./fragments.js";
import { Memory } from "./memory.js";
import { floatingBy, meanOf, Strategy, type Update } from "./strategy.js";

/** Options of `DiLoCo`. */
export interface DiLoCoOptions {
  /** The learning rate of the outer step; default 0.7. */
  readonly lr?: number | undefined;
  /** The momentum of the outer step; default 0.9. */
  readonly momentum?: number | undefined;
  /** Whether the momentum is Nesterov's; default true. */
  readonly nesterov?: boolean | undefined;
  /** The number of fragments of the weights, one of which is synchronized in each round; default 1. */
  readonly fragments?: number | undefined;
}

/**
 * The outer step of DiLoCo: `optim.SGD` with the round's weights minus the clients' mean as the gradient. Clients usually take some hundred
 * steps of AdamW, whose state stays with them. With `fragments`, a round synchronizes one fragment of the weights, and clients continue with
 * their own weights in the others (streaming DiLoCo, Douillard et al. 2025): this divides the bytes of a round by `fragments`.
 */
export class DiLoCo extends Strategy {
  readonly lr: number;
  readonly momentum: number;
  readonly nesterov: boolean;
  readonly fragments: number;
  readonly #momentum = new Memory();

  constructor(options: DiLoCoOptions = {}) {
    super();
    const where = "DiLoCo";
    const given = readOptions(where, ["lr", "momentum", "nesterov", "fragments"], options);
    const { lr = 0.7, momentum = 0.9, nesterov = true, fragments = 1 } = given;
    this.lr = numberFrom(where, "lr", lr, { least: 0 });
    this.momentum = numberFrom(where, "momentum", momentum, { least: 0, below: 1 });
    this.nesterov = booleanFrom(where, "nesterov", nesterov);
    this.fragments = integerFrom(where, "fragments", fragments, { least: 1 });
  }

  override get takesMean(): boolean {
    return true;
  }

  override keysOf(global: Readonly<State>, round: number): readonly string[] | null {
    return this.fragments === 1 ? null : fragmentOf(global, this.fragments, round);
  }

  override aggregate(global: State, updates: readonly Update[]): State {
    const mean = meanOf(global, updates);
    return floatingBy(mean, (average, key) => {
      const weights = at(global, key);
      const gradient = weights.sub(average);
      const buffer = this.#momentum.of(key, weights);
      buffer.mul_(this.momentum).add_(gradient);
      const step = this.nesterov ? gradient.add(buffer.mul(this.momentum)) : buffer;
      return weights.sub(step.mul(this.lr));
    });
  }

  override stateDict(): Record<string, unknown> {
    return { momentum: this.#momentum.stateDict() };
  }

  override loadStateDict(state: Record<string, unknown>): void {
    this.#momentum.load("DiLoCo", state.momentum);
  }
}
