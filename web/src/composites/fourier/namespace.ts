// eg.fft, which is a transform and the namespace of all: a program that names it has the others in its bundle too.

import { define } from "../../dispatch/define.js";
import * as members from "./members.js";

/** torch.fft's functions as members, as in `eg.fft.rfft(x)`; called itself, it is `eg.fft.fft`. */
export const fft: typeof members.fft & typeof members = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ define<typeof members.fft>("fft"),
  members,
);
