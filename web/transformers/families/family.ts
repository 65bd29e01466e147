// What a family of models is to the rest of this add-on.

import type { Config } from "../config/config.js";
import type { PreTrainedModel } from "../model.js";

/** What a model is for. */
export type Task =
  | "features"
  | "causal language modelling"
  | "masked language modelling"
  | "sequence classification"
  | "image classification"
  | "sequence to sequence"
  | "speech";

/** A family of architectures. */
export interface Family {
  /** The name of the part that the models of all tasks have. */
  readonly prefix: string;
  /** Makes the models, without weights. */
  readonly tasks: Readonly<Partial<Record<Task, (config: Config) => PreTrainedModel>>>;
  /** The names of parameters that a file may lack, because they are trained for a new task. */
  readonly heads: RegExp;
}
