// What the page and its worker tell each other.

/** How the weights of a model are kept in memory; "auto" as they are in its files. */
export type WeightKind = "float32" | "auto" | "int8";

/** A model that has been opened. */
export interface OpenedModel {
  /** Its model_type. */
  readonly type: string;
  readonly parameters: number;
  /** Whether its files say how chats are written. */
  readonly hasTemplate: boolean;
}

/** A question and its answer. */
export interface Pair {
  readonly question: string;
  readonly answer: string;
}

/** What is learned: answers to questions, or a text. */
export type Lesson =
  | { readonly kind: "answers"; readonly pairs: readonly Pair[] }
  | { readonly kind: "text"; readonly text: string };

/** What a model continues: a question that it answers, or the beginning of a text. */
export interface Prompt {
  readonly kind: Lesson["kind"];
  readonly text: string;
}

/** How a lesson is learned. */
export interface LessonSettings {
  readonly steps: number;
  readonly rate: number;
  readonly rank: number;
  /** What is written every now and then. */
  readonly prompt: Prompt;
}

/** The state of a training after a step. */
export interface StepDone {
  /** The number of steps with this adapter. */
  readonly step: number;
  readonly loss: number;
  /** The share of the lesson's steps that are done. */
  readonly share: number;
  readonly tokensPerSecond: number;
}

/** How many parameters are trained, and what was left out of the lesson. */
export interface LessonFacts {
  readonly trained: number;
  /** The number of answers that were cut, because the model cannot read so much at once. */
  readonly cut: number;
}

/** What the worker tells while it works. */
export interface Listener {
  began(facts: LessonFacts): void;
  stepped(step: StepDone): void;
  /** No step runs until setPaused(false). */
  paused(): void;
  /** A piece of text; `step` is null for a text without the adapter. */
  wrote(text: string, begins: boolean, step: number | null): void;
}
