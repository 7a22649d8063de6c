import type { Json } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { pieces, visible } from '../../core/visible.ts';
import { type Html, html } from './html.ts';

/** Text of a model or a tool: escaped, and what a browser would obey or leave blank written out. */
export function shown(text: string): Html {
  const parts = pieces(text).map((piece) =>
    piece.mark ? html`<span class="mark" title="A character that does not show, written out">${piece.text}</span>` : html`${piece.text}`,
  );
  return html`${parts}`;
}

/** JSON for an editor: two-space, and what would not show as escapes of JSON, which say the same. */
export function editable(value: Json): string {
  return JSON.stringify(value, null, 2).replace(/[^\n\x20-\x7e]/gu, (character) =>
    visible(character) === character ? character : escapes(character),
  );
}

function escapes(character: string): string {
  return Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}

/** Arguments by name, texts as they are so that a person can read what a file will hold. Short ones take a line. */
export function factsOf(value: Json, label: string): Html {
  const entries = isJsonObject(value) ? Object.entries(value) : [['', value] as const];
  if (entries.length === 0) return html`<p class="soft">No arguments.</p>`;
  return html`<dl class="facts">${entries.map(([name, item]) => {
    const text = typeof item === 'string' ? item : jsonText(item);
    const short = text.length <= SHORT_CHARACTERS && !text.includes('\n');
    const region = short ? undefined : html` tabindex="0" role="group" aria-label="${label} ${visible(name)}"`;
    return html`<div${short && html` class="short"`}><dt>${shown(name)}${sizeOf(text)}</dt><dd><pre dir="ltr"${region}>${shown(text)}</pre></dd></div>`;
  })}</dl>`;
}

const SHORT_CHARACTERS = 60;
const LONG = { characters: 400, lines: 12 } as const;

function jsonText(value: Json): string {
  const line = JSON.stringify(value);
  return line.length <= SHORT_CHARACTERS ? line : JSON.stringify(value, null, 2);
}

/** So that nobody overlooks what is below the edge of a box. */
function sizeOf(text: string): Html | undefined {
  const lines = text.split('\n').length;
  if (text.length < LONG.characters && lines < LONG.lines) return undefined;
  return html` <span class="size">${lines > 1 ? `${lines} lines, ` : ''}${text.length.toLocaleString('en')} characters</span>`;
}

/** `6 days 23 h`, `23 h 59 min`, `2 h`, `5 min`. Rounded down: never more than is left. */
export function spanText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return 'less than a minute';
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} ${days === 1 ? 'day' : 'days'}${hours > 0 ? ` ${hours} h` : ''}`;
  if (hours > 0) return `${hours} h${minutes % 60 > 0 ? ` ${minutes % 60} min` : ''}`;
  return `${minutes} min`;
}

/** An instant for people of any place; `<time>` has it exactly. */
export function timeOf(ms: number): Html {
  const date = new Date(ms);
  const text = date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return html`<time datetime="${date.toISOString()}">${text} UTC</time>`;
}

export const agoText = (ms: number): string => (ms < 60_000 ? 'just now' : `${spanText(ms)} ago`);
export const moneyText = (usd: number): string => (usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`);
export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
