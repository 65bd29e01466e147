// The weights of a round at a client: all of them, or in a run that synchronises parts in turn the part that has changed.

import * as eg from "edgegrad";
import type { RunRecord } from "../record.js";
import type { ClientLink } from "../transport.js";
import { withoutControls } from "../update/control.js";
import { free, pick, type State } from "../update/state.js";

/** What a client knows of the run's weights. */
export class RoundWeights {
  readonly #known = new Map<string, eg.Tensor>();
  #round = 0;

  constructor(
    readonly link: ClientLink,
    readonly model: eg.nn.Module,
  ) {}

  /**
   * Loads what is new into the model and returns the run's state, as far as updates of this round are about it. The tensors stay those of
   * this object. Throws NotNow.
   */
  async load({ round, weights, fragment, client }: RunRecord): Promise<State> {
    const part = round === this.#round + 1 ? (fragment?.weights ?? null) : null;
    const loaded = eg.io.loadSafetensors(await this.link.readObject(part ?? weights));
    // From here on the model is not that of the round before, until it has been trained.
    this.#round = 0;
    const given = client.control ? withoutControls(loaded) : loaded;
    this.model.loadStateDict(given, { strict: part === null });
    for (const [key, tensor] of Object.entries(loaded)) {
      this.#known.get(key)?.dispose();
      this.#known.set(key, tensor);
    }
    const all = Object.fromEntries(this.#known);
    return fragment === undefined ? all : pick(all, fragment.keys);
  }

  /** Tells that the model has been trained in a round: for the next one, a part is enough. */
  trainedIn(round: number): void {
    this.#round = round;
  }

  /** Frees the tensors. */
  free(): void {
    free(Object.fromEntries(this.#known));
    this.#known.clear();
  }
}
