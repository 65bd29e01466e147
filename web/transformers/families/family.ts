// The interface of a model family.

import type { Config } from "../config/config.js";
import type { PreTrainedModel } from "../model.js";

/** The task of a model. */
export type Task =
  | "features"
  | "causal language modeling"
  | "masked language modeling"
  | "sequence classification"
  | "image classification"
  | "sequence to sequence"
  | "speech";

/** A family of architectures. */
export interface Family {
  /** The name of the submodule that the models of all tasks share. */
  readonly prefix: string;
  /** Creates the models, without weights. */
  readonly tasks: Readonly<Partial<Record<Task, (config: Config) => PreTrainedModel>>>;
  /** Matches the parameters that a file may lack, because they are trained for a new task. */
  readonly heads: RegExp;
}
