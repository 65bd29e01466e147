// React: the training is in a ref, since it is no state to draw; what is drawn is plain.

import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { startTraining } from "./training.js";

function Trainer() {
  const training = useRef(null);
  const [loss, setLoss] = useState(null);

  // Strict mode mounts, unmounts and mounts again: each mount has a training of its own.
  useEffect(() => {
    const leaving = new AbortController();
    const started = startTraining();
    training.current = { started, signal: leaving.signal };
    return () => {
      leaving.abort();
      started.then((one) => one.dispose());
    };
  }, []);

  const train = async () => {
    const { started, signal } = training.current;
    await (await started).run({ signal, onLoss: setLoss });
  };

  return (
    <main>
      <button type="button" onClick={train}>
        Train
      </button>
      <output>{loss?.toFixed(4)}</output>
    </main>
  );
}

export function mount(target) {
  const root = createRoot(target);
  root.render(<Trainer />);
  return () => root.unmount();
}
