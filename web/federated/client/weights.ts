// A client's copy of a round's weights: it loads all of them or, in a run that synchronizes fragments in turn, the changed fragment.

import * as eg from "edgegrad";
import type { RunRecord } from "../record.js";
import type { StoredObject } from "../stored_object.js";
import { withoutControls } from "../update/control.js";
import { free, pick, type State } from "../update/state.js";
import type { Link } from "./link.js";

/** A client's copy of the run's weights. */
export class RoundWeights {
  readonly #known = new Map<string, eg.Tensor>();
  #round = 0;

  constructor(
    readonly link: Link,
    readonly model: eg.nn.Module,
  ) {}

  /**
   * Loads the new weights, those of the revision that the client trains, into the model and returns the part of the run's state that updates of this round refer to. This object keeps
   * owning the tensors. Throws TemporarilyUnavailable.
   */
  async load({ round, fragment, client }: RunRecord, weights: StoredObject): Promise<State> {
    const part = round === this.#round + 1 ? (fragment?.weights ?? null) : null;
    const loaded = eg.io.loadSafetensors(await this.link.readObject(part ?? weights));
    // Until the model has been trained in this round, it no longer matches any round.
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

  /** Must be called when the model has been trained in a round, so that the next one needs only a fragment. */
  trainedIn(round: number): void {
    this.#round = round;
  }

  /** Frees the tensors. */
  free(): void {
    free(Object.fromEntries(this.#known));
    this.#known.clear();
  }
}
