// A component of React that loads the model and predicts.

import type { Program } from "./program.js";

/** Returns the text of the component. */
export function reactComponent({ title, types, name }: Program): string {
  return `import { init, io, scope } from 'edgegrad';
import { useEffect, useState } from 'react';
import { makeModel, predict } from './model';

/** ${title}: loads the model once, and predicts for \`input\`. */
export function Prediction({ input }: { input: ${types.input} | null }) {
  const [model, setModel] = useState<ReturnType<typeof makeModel> | null>(null);

  useEffect(() => {
    let isGone = false;
    void (async () => {
      await init();
      // Beside the page: ${name}.safetensors.
      const answer = await fetch('/weights.safetensors');
      const weights = new Uint8Array(await answer.arrayBuffer());
      const made = makeModel();
      scope(() => void made.loadStateDict(io.loadSafetensors(weights)));
      made.eval();
      if (!isGone) setModel(made);
    })();
    return () => {
      isGone = true;
    };
  }, []);

  if (model === null) return <p>Starting …</p>;
  const output: ${types.output} | null = input === null ? null : predict(model, input);
  return <output>{JSON.stringify(output)}</output>;
}
`;
}
