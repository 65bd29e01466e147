import { runtime } from 'edgegrad';
import { train } from './train';

/** What the page receives after every tenth step. */
export interface Message {
  readonly step: number;
  readonly loss: number;
  readonly threads: number;
  readonly variant: string;
}

for await (const progress of train()) {
  const { threads, variant } = runtime();
  postMessage({ ...progress, threads, variant } satisfies Message);
}
