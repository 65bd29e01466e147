import { runtime } from 'edgegrad';
import { train } from './train.js';

for await (const { step, loss } of train()) console.log(`step ${step}, loss ${loss.toFixed(6)}`);
const { threads, variant } = runtime();
console.log(`threads: ${threads}, variant: ${variant}`);
