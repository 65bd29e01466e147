// The interface of a model family.

import type { Config } from "../config/config.js";
import type { PreTrainedModel } from "../model.js";

/** The task of a model. */
export type Task =
  | "features"
  | "causal language modeling"
  | "masked language modeling"
  | "sequence classification"
  | "token classification"
  | "question answering"
  | "image classification"
  | "image and text to text"
  | "sequence to sequence"
  | "speech"
  | "speech recognition";

/** A family of architectures. */
export interface Family {
  /** The name of the submodule that the models of all tasks share. */
  readonly prefix: string;
  /** Matches the tensors of files that models of some tasks leave out without a warning. */
  readonly unused?: RegExp;
  /** Creates the models, without weights. */
  readonly tasks: Readonly<Partial<Record<Task, (config: Config) => PreTrainedModel>>>;
  /** Matches the parameters that a file may lack, because they are trained for a new task. */
  readonly heads: RegExp;
}
