import { STATUS_CODES } from 'node:http';
import { type Code, HandrailError } from '../../core/errors.ts';
import type { ToolHandler } from '../../core/hands/category.ts';
import type { WebHead, WebResponse } from '../../core/ports/web-client.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { type ContentKind, contentType, decodeText, sniff } from './content-kind.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { indentJson } from './indent-json.ts';
import { webFetchArguments } from './web-fetch.definition.ts';

type Format = 'markdown' | 'text' | 'json' | 'raw';

interface Content {
  readonly title?: string;
  readonly text: string;
  /** Why the rest is missing. */
  readonly cut?: string;
}

/** Statuses that are failures of the moment: the call may be repeated. Any other is an answer, and says what it is. */
const PASSING: Readonly<Record<number, Code>> = {
  429: 'RATE_LIMITED',
  502: 'SERVICE_UNAVAILABLE',
  503: 'SERVICE_UNAVAILABLE',
  504: 'SERVICE_UNAVAILABLE',
};
const ACCEPT: Readonly<Record<Format, string>> = {
  markdown: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.1',
  text: 'text/plain, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, */*;q=0.1',
  json: 'application/json, */*;q=0.1',
  raw: '*/*',
};

/** A page as text, with what it is and where it came from on lines of their own before it. */
export const webFetch: ToolHandler = async (args, context, services) => {
  const { url, format, offset, max_characters } = parseArguments(webFetchArguments, args);
  const response = await serviceOf(services, 'web').fetch({ url, accept: ACCEPT[format], signal: context.signal, onHead: checkHead });
  const content = await readContent(response, format, context.signal);
  return { text: show(response, content, offset, max_characters) };
};

/** Before the body is loaded: no body is wanted of what fails for now, or cannot be read anyway. */
function checkHead({ status, headers }: WebHead): void {
  const code = PASSING[status];
  if (code !== undefined) {
    const wait = /^\d{1,6}$/.test(headers['retry-after'] ?? '') ? ` It asks to wait ${headers['retry-after']} s.` : '';
    throw new HandrailError(code, `The server answered ${statusText(status)}.${wait}`);
  }
  const { kind, type } = contentType(headers['content-type']);
  refuseUnreadable(kind, type);
}

function refuseUnreadable(kind: ContentKind, type: string): void {
  if (kind !== 'pdf' && kind !== 'binary') return;
  const what = kind === 'pdf' ? 'a PDF document' : `not text${type === '' ? '' : ` (${type.slice(0, 80)})`}`;
  throw new HandrailError('INVALID_OUTPUT', `The address leads to ${what}; web_fetch reads HTML, JSON and plain text.`, {
    suggestions: ['Look for a page that says the same as text.', 'Tell the user what you could not read.'],
  });
}

async function readContent({ body, headers, url }: WebResponse, format: Format, signal: AbortSignal): Promise<Content> {
  const declared = contentType(headers['content-type']);
  const kind = sniff(body, declared.kind);
  refuseUnreadable(kind, declared.type);
  const text = decodeText(body, declared.charset, kind);
  if (format === 'raw') return { text };
  if (format === 'json' || kind === 'json') return { text: readJson(text, format, declared.type) };
  return kind === 'html' ? htmlToMarkdown(text, { url, format, signal }) : { text };
}

function readJson(text: string, format: Format, type: string): string {
  try {
    JSON.parse(text);
  } catch {
    if (format !== 'json') return text;
    throw new HandrailError('INVALID_OUTPUT', `The response is not JSON${type === '' ? '' : ` but ${type.slice(0, 80)}`}.`, {
      suggestions: ['Ask for format "markdown".'],
    });
  }
  return indentJson(text);
}

function show({ url, status, headers, redirects }: WebResponse, { title, text, cut }: Content, offset: number, limit: number): string {
  if (offset > 0 && offset >= text.length)
    throw new HandrailError('INVALID_ARGUMENTS', `\`offset\` ${offset} is beyond the end: the content has ${text.length} characters.`);
  const start = isLowSurrogate(text, offset) ? offset + 1 : offset;
  const last = Math.min(text.length, start + limit);
  const end = isLowSurrogate(text, last) ? last - 1 : last;
  const rest = end < text.length ? `; go on with offset ${end}` : '';
  const lines = [
    ...(title ? [`Title: ${title}`] : []),
    `URL: ${url}${redirects > 0 ? ` (after ${redirects} redirect${redirects > 1 ? 's' : ''})` : ''}`,
    `Status: ${statusText(status)}`,
    ...(headers['content-type'] ? [`Type: ${headers['content-type']}`] : []),
    ...(headers['last-modified'] ? [`Last modified: ${headers['last-modified']}`] : []),
    ...(text === '' ? ['(no content)'] : []),
    ...(start > 0 || rest !== '' ? [`Characters ${start} to ${end} of ${text.length}${rest}`] : []),
    ...(cut === undefined ? [] : [`(the rest of the page was left out: ${cut})`]),
  ];
  return `${lines.join('\n')}\n\n${text.slice(start, end)}`;
}

function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
