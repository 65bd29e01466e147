// Dropout.

import * as eg from "edgegrad";
import { number, tensor } from "../values/value.js";
import { ignored, maybeFloat, maybeInt, type Ops, op } from "./op.js";

export const kDropout: Ops = {
  Dropout: op({
    attributes: { ratio: maybeFloat, seed: maybeInt, is_test: ignored, consumed_inputs: ignored },
    settings: [1, 2],
    run: ([input, ratio, mode], given, { training, wanted }) => {
      const x = tensor(input);
      const share = number(ratio) ?? given.ratio ?? 0.5;
      const isActive = (training || (number(mode) ?? 0) !== 0) && share > 0;
      if (!isActive) return wanted[1] ? [x, eg.onesLike(x).to("bool")] : x;
      if (!wanted[1]) return eg.dropout(x, share, true);
      const kept = eg.randLike(x).ge(share);
      return [x.mul(kept).div(1 - share), kept];
    },
  }),
};
