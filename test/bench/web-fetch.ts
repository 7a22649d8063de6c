import { Agent, request } from 'undici';
import { createWebClient } from '../../lib/adapters/network/web-client.ts';
import { htmlToMarkdown } from '../../lib/tools/network/html-to-markdown.ts';
import { connectToLoopback, httpServer } from '../support/web-server.ts';
import { median, round } from './bench-runtime.ts';

const ROUNDS = 300;
const WARM_UP = 50;
/** About what a page of documentation weighs. */
const PAGE = `<title>Page</title>${'<h2>Part</h2><p>Some text with <a href="/x">a link</a> and <b>more</b>.</p>'.repeat(1_000)}`;

export interface WebFetchFigures {
  /** undici alone, a connection for each request as ours. */
  readonly plainMs: number;
  /** Checks, pinning, limits and the same request. */
  readonly checkedMs: number;
  readonly overheadMs: number;
  /** A page of 75 KB as Markdown. */
  readonly markdownMs: number;
}

/** One request to a server on loopback, by undici and by ours; medians. */
export async function measureWebFetch(): Promise<WebFetchFigures> {
  const server = await httpServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
  try {
    const plain = async (): Promise<void> => {
      const dispatcher = new Agent();
      await (await request(server.url, { dispatcher, reset: true })).body.arrayBuffer();
      await dispatcher.destroy();
    };
    const client = createWebClient({
      policy: { allowedDomains: ['site.example'] },
      userAgent: 'bench',
      resolve: async () => ['93.184.215.14'],
      connectTo: connectToLoopback(() => server.port),
    });
    const checked = async (): Promise<void> => {
      await client.fetch({ url: 'http://site.example/', accept: '*/*', signal: AbortSignal.timeout(10_000) });
    };
    const signal = new AbortController().signal;
    const markdown = async (): Promise<void> => void (await htmlToMarkdown(PAGE, { url: server.url, format: 'markdown', signal }));
    const plainMs = await timeOf(plain);
    const checkedMs = await timeOf(checked);
    const markdownMs = await timeOf(markdown);
    return {
      plainMs: round(plainMs, 2),
      checkedMs: round(checkedMs, 2),
      overheadMs: round(checkedMs - plainMs, 2),
      markdownMs: round(markdownMs, 2),
    };
  } finally {
    await server.close();
  }
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < ROUNDS + WARM_UP; index++) {
    const begin = performance.now();
    await work();
    if (index >= WARM_UP) times.push(performance.now() - begin);
  }
  return median(times);
}
