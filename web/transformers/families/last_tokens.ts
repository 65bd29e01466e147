// The last token of each text, which classifiers without a pooler read.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";

/** Returns the hidden states of the last token that is not padding: [batch, size]. */
export function lastTokens(
  hidden: eg.Tensor,
  ids: eg.Tensor,
  paddingToken: number | null,
): eg.Tensor {
  const [batch, tokens, size] = hidden.shape as [number, number, number];
  if (paddingToken === null) {
    if (batch > 1) {
      const advice = "set pad_token_id in config.json to classify several texts at once";
      fail("InvalidArgument", "forward", `without a padding token, ends are unknown: ${advice}.`);
    }
    return hidden.narrow(1, tokens - 1, 1).reshape([1, size]);
  }
  const places = eg.arange(tokens, { dtype: "int64", device: ids.device });
  const last = ids.ne(paddingToken).to("int64").mul(places).argmax(-1);
  const index = last.reshape([batch, 1, 1]).expand([batch, 1, size]);
  return hidden.gather(1, index).reshape([batch, size]);
}
