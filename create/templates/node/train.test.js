import assert from 'node:assert/strict';
import { test } from 'node:test';
import { train } from './train.js';

test('the loss falls', async () => {
  const losses = [];
  for await (const { loss } of train()) losses.push(loss);
  assert.ok(losses.at(-1) < losses[0] / 10, `${losses[0]} and ${losses.at(-1)}`);
});
