import type { SkillHandler } from '../../lib/core/skills/context.ts';
import { readPage } from './page.ts';

/** Statuses that pass: with such a code the call is tried again. */
const PASSING: Readonly<Record<number, string>> = {
  429: 'RATE_LIMITED',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
};

/** Seed 004 section 1.3: one page as Markdown, text, or structured data. The arguments were checked against SKILL.md. */
const scrape: SkillHandler = async (args, ctx) => {
  const url = String(args['url']);
  const limit = Number(args['max_characters']);
  const response = await ctx.fetch(url, { headers: { accept: 'text/html, text/plain;q=0.8' } });
  ctx.logger.debug('page fetched', { status: response.status });
  if (!response.ok) throw failure(PASSING[response.status] ?? 'INVALID_ARGUMENTS', `${url} answered with status ${response.status}`);
  const type = response.headers.get('content-type') ?? '';
  if (!/^(?:text\/|application\/xhtml)/.test(type)) throw failure('INVALID_OUTPUT', `${url} is ${type || 'of no known type'}, not a page`);
  const body = await response.text();
  if (!/html/.test(type)) return `${response.url}\n\n${cut(body, limit)}`;
  const page = readPage(body, response.url);
  switch (args['extract_type']) {
    case 'structured': {
      const { title, headings, links, tables, text } = page;
      return {
        url: response.url,
        title,
        headings: [...headings],
        links: [...links],
        tables: tables.map((rows) => rows.map((row) => [...row])),
        text: cut(text, limit),
      };
    }
    case 'text':
      return `${page.title}\n${response.url}\n\n${cut(page.text, limit)}`;
    default:
      return `# ${page.title}\n\n${response.url}\n\n${cut(page.markdown, limit)}`;
  }
};
export default scrape;

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()}\n\n(cut: ${limit} of ${text.length} characters)`;
}
