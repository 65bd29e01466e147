// eg.fft is both a transform and the namespace of all transforms: a program that uses it has all of them in its bundle.

import { define } from "../../dispatch/define.js";
import * as members from "./members.js";

/** torch.fft's functions as members, as in `eg.fft.rfft(x)`; called itself, it is `eg.fft.fft`. */
export const fft: typeof members.fft & typeof members = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ define<typeof members.fft>("fft"),
  members,
);
