import { runtime } from 'edgegrad';
import { train } from './train';

function show(id: string, text: string) {
  const element = document.getElementById(id);
  if (element) element.textContent = text;
}

for await (const { step, loss } of train()) {
  const { threads, variant } = runtime();
  show('runtime', `threads: ${threads}, variant: ${variant}`);
  show('progress', `step ${step}, loss ${loss.toFixed(6)}`);
  // Lets the page draw.
  await new Promise((resolve) => setTimeout(resolve));
}
