// What a chapter consists of.

import type { Expression, Value } from "../expression.js";

/** A number that a visitor drags. */
export interface NumberInput {
  readonly name: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** Data gets no gradient. */
  readonly isData?: boolean;
}

/** A vector or matrix whose elements a visitor types. */
export interface TensorInput {
  readonly name: string;
  readonly rows: readonly (readonly number[])[];
  /** Whether it is one row alone, a vector. */
  readonly isVector?: boolean;
  readonly isData?: boolean;
}

/** A question for which a visitor predicts the gradient on an edge, which the engine then computes. */
export interface EdgeQuestion {
  readonly text: string;
  /** The names of the operand and of the op's result. */
  readonly from: string;
  readonly to: string;
  /** Which element; default the first. */
  readonly element?: number;
  readonly why: string;
}

/** A question with answers to choose from. */
export interface ChoiceQuestion {
  readonly text: string;
  readonly answers: readonly string[];
  readonly right: number;
  readonly why: string;
}

interface Text {
  /** In addresses. */
  readonly id: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
}

/** An expression, drawn as a graph. */
export interface GraphChapter extends Text {
  readonly numbers: readonly NumberInput[];
  readonly tensors?: readonly TensorInput[];
  /** Builds the expression; the inputs are given in their order, numbers first. */
  readonly build: (expression: Expression, ...inputs: readonly Value[]) => void;
  readonly question: EdgeQuestion;
  /** What the chapters so far have said. */
  readonly summary?: ChoiceQuestion;
}

/** A line of a program, and what it shows. */
export interface Line {
  readonly code: string;
  readonly note: string;
}

/** A program that runs line by line, with expressions that are watched. */
export interface ProgramChapter extends Text {
  readonly lines: readonly Line[];
  /** JavaScript expressions, shown after each line. */
  readonly watched: readonly string[];
  readonly question: ChoiceQuestion;
}

export type Chapter = GraphChapter | ProgramChapter;
