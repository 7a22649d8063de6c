import { describe, expect, test } from 'vitest';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { HandrailError } from '../../lib/core/errors.ts';
import { connectToLoopback } from '../support/web-server.ts';

const client = createWebClient({
  policy: { allowedDomains: ['*'] },
  userAgent: 'test',
  resolve: async () => expect.unreachable('the host was looked up'),
  connectTo: connectToLoopback(() => expect.unreachable('a connection was begun')),
});

describe('a URL with credentials in it', () => {
  test.each([
    'https://user:hunter2@example.com/',
    'https://hunter2@example.com/',
    'https://:hunter2@example.com/',
    'https://example.com:hunter2@evil.example/',
    'https://user:hunter2@127.0.0.1/',
  ])('%s is neither sent nor repeated', async (url) => {
    const error = await client.fetch({ url, accept: '*/*', signal: AbortSignal.timeout(5_000) }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(error instanceof HandrailError ? `${error.message} ${error.suggestions.join(' ')}` : '').not.toContain('hunter2');
  });
});
