import { afterEach, expect, test, vi } from 'vitest';
import { observation, observed } from '../../../lib/runtime/aws-observation.ts';

Object.assign(process.env, { HANDRAIL_FUNCTION_PREFIX: 'ours', HANDRAIL_LOG_LEVEL: 'info', HANDRAIL_LOG_TEXT: 'off' });
afterEach(() => vi.restoreAllMocks());

const RUN = 'r-00000000000000000000000000';

test.each([
  ['a step', { data: { ctx: { tenant: 't1', runId: RUN, step: 3 } } }, { tenant: 't1', run: RUN, step: 4 }],
  ['a request of the API', { rawPath: '/runs', requestContext: { requestId: 'abc', http: { method: 'POST' } } }, { request: 'abc' }],
])('lines of %s say what it is', async (_what, event, about) => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  await observed(async () => observation().logger.warn('something'))(event);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ message: 'something', ...about }]);
});
