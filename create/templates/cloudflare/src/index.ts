import { runtime } from 'edgegrad';
import { train } from './train';

// A worker has one thread, 128 MB of memory and little time per request: train small models, or only evaluate them.
export default {
  async fetch(request: Request): Promise<Response> {
    const given = new URL(request.url).searchParams.get('steps') ?? '100';
    const steps = Math.min(Math.max(Math.trunc(Number(given)) || 0, 10), 1000);
    const losses: number[] = [];
    for await (const { loss } of train(steps)) losses.push(loss);
    return Response.json({ losses, runtime: runtime() });
  },
};
