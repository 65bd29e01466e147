// Another thread of the same engine, which calls backward at the same time as the others.

import * as eg from "edgegrad";
import { type Gate, passGate } from "./gate.js";

function backward(loss: eg.Tensor, gate: Gate): void {
  passGate(gate, () => loss.backward(null, { retainGraph: true }));
}

eg.expose({ backward });
