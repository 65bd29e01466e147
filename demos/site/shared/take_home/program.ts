// What a demo gives to take home, from which all files are made.

/** A model as a program. */
export interface Program {
  /** What the model is called, as the name of a file. */
  readonly name: string;
  readonly title: string;
  /** A module of JavaScript that imports "edgegrad" and exports makeModel() and predict(model, input). */
  readonly model: string;
  /** The page that uses it: what is in its body, and a script that is called with makeModel, predict and the loaded model. */
  readonly page: { readonly body: string; readonly script: string };
  /** The type of predict()'s input and output in a component of React. */
  readonly types: { readonly input: string; readonly output: string };
}
