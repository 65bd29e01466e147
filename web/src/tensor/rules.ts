// The rule for arguments that are tensors.

import { Rule } from "../arguments/rule.js";
import { Tensor } from "./tensor.js";

/** A tensor. */
export const tensorRule = new Rule<Tensor>("a tensor", (value) => value instanceof Tensor);
