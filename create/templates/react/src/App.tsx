import { useEffect, useState } from 'react';
import type { Message } from './trainer';

/** Trains in a worker, so that the page stays responsive, and shows the progress. */
export function App() {
  const [message, setMessage] = useState<Message | null>(null);
  const [error, setError] = useState('');

  useEffect(() => {
    const worker = new Worker(new URL('./trainer.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Message>) => setMessage(data);
    worker.onerror = (event) => setError(event.message || 'The worker could not be started.');
    return () => worker.terminate();
  }, []);

  return (
    <main>
      <h1>Learning to multiply</h1>
      {error && <p role="alert">{error}</p>}
      <p id="runtime">
        {message ? `threads: ${message.threads}, variant: ${message.variant}` : 'Starting …'}
      </p>
      <output id="progress">
        {message && `step ${message.step}, loss ${message.loss.toFixed(6)}`}
      </output>
    </main>
  );
}
