import * as z from 'zod';
import { HandrailError } from '../../../core/errors.ts';
import { utf8Bytes } from '../../../core/json.ts';
import { MESSAGE_ITEM_BYTES } from '../../../core/limits.ts';
import { messageSchema, type PlacedMessage } from '../../../core/loop/message.ts';
import type { MessageWrite, SessionKey } from '../../../core/ports/run-store.ts';
import { fromItem, type Item, parseText, toText } from './codec.ts';
import { type ItemKey, parseMessagePrefix, sessionPk } from './keys.ts';

/** Three digits number the messages of a commit. */
const COMMIT_MESSAGES = 1_000;

/**
 * Items of one commit's messages: `<prefix><i, 3 digits>`. Text too large for an item goes on in `<prefix><i>#p<n, 2 digits>`,
 * which sorts after its beginning and before the next message. The first message names the commit before, in `prev`.
 */
export function toMessageItems(key: SessionKey, { prefix, prev, messages }: MessageWrite): (Item & ItemKey)[] {
  parseMessagePrefix(prefix);
  if (messages.length > COMMIT_MESSAGES) throw new HandrailError('RESOURCE_EXHAUSTED', `more than ${COMMIT_MESSAGES} messages in one step`);
  const pk = sessionPk(key);
  return messages.flatMap((message, index) => {
    const sk = `${prefix}${String(index).padStart(3, '0')}`;
    const [body = '', ...rest] = split(toText(message), MESSAGE_ITEM_BYTES);
    return [
      {
        pk,
        sk,
        v: 1,
        body,
        ...(index === 0 && prev !== undefined ? { prev } : {}),
        ...(rest.length > 0 ? { parts: rest.length + 1 } : {}),
      },
      ...rest.map((part, n) => ({ pk, sk: `${sk}#p${String(n + 1).padStart(2, '0')}`, v: 1, body: part })),
    ];
  });
}

const messageItemSchema = z.object({
  v: z.literal(1),
  sk: z.string(),
  body: z.string(),
  prev: z.string().optional(),
  parts: z.int().optional(),
});

/** The commits of one run that are complete among `items`, which are in order of key. */
export function fromMessageItems(items: readonly Item[], runSeq: number): MessageWrite[] {
  const stored = items.map((item) => ({ item, ...fromItem(messageItemSchema, item, new Set()) }));
  const commits = Map.groupBy(stored, ({ sk }) => /^MSG#.+#\d{6}#\d{6}#[^#]+#(?=\d{3}(?:#p\d{2})?$)/.exec(sk)?.[0] ?? '');
  return [...commits].flatMap(([prefix, parts]) => {
    if (prefix === '' || parseMessagePrefix(prefix).runSeq !== runSeq) return [];
    const messages = Map.groupBy(parts, ({ sk }) => sk.slice(0, prefix.length + 3));
    const whole = [...messages.values()].every(([first, ...rest], index) => {
      const isFirst = first?.sk === `${prefix}${String(index).padStart(3, '0')}`;
      return isFirst && rest.length + 1 === (first.parts ?? 1);
    });
    if (!whole) return [];
    const read = [...messages.values()].map((group) =>
      parseText(messageSchema, group[0]?.item ?? {}, group.map(({ body }) => body).join('')),
    );
    return [{ prefix, prev: parts[0]?.prev, messages: read }];
  });
}

/** Follows the chain of commits through items that arrive newest first. */
export interface ChainWalk {
  /** Messages found so far, newest first. */
  readonly found: readonly PlacedMessage[];
  /** The commit whose items come next; undefined once the beginning of the chain has been read. */
  expected(): string | undefined;
  take(item: Item): void;
}

/** Items that are not of the expected commit belong to commits that lost, and are passed over. A gap in a commit is INTERNAL, or the end where messages `expire`. */
export function walkChain(head: string, expires = false): ChainWalk {
  const found: PlacedMessage[] = [];
  let expected: string | undefined = head;
  let lastIndex: number | undefined;
  let parts: string[] = [];
  return {
    found,
    expected: () => expected,
    take(item) {
      const stored = fromItem(messageItemSchema, item, new Set());
      if (expected === undefined || !stored.sk.startsWith(expected)) return;
      const index = Number(stored.sk.slice(expected.length, expected.length + 3));
      if (stored.sk.length > expected.length + 3) {
        parts.unshift(stored.body);
        return;
      }
      if ((stored.parts ?? 1) !== parts.length + 1 || (lastIndex !== undefined && index !== lastIndex - 1)) {
        if (!expires) throw brokenChain(expected);
        expected = undefined;
        return;
      }
      const { runSeq, step } = parseMessagePrefix(expected);
      found.push({ runSeq, step, index, message: parseText(messageSchema, item, stored.body + parts.join('')) });
      parts = [];
      lastIndex = index === 0 ? undefined : index;
      if (index === 0) expected = stored.prev;
    },
  };
}

export const brokenChain = (prefix: string): HandrailError => new HandrailError('INTERNAL', `messages of a commit are missing: ${prefix}`);

/** Pieces of at most `limit` UTF-8 bytes, never parting a surrogate pair. */
function split(text: string, limit: number): string[] {
  if (utf8Bytes(text) <= limit) return [text];
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    // A UTF-16 unit takes at most three bytes, so a third of the limit always fits.
    let end = Math.min(text.length, start + Math.floor(limit / 3));
    for (
      let spare = limit - utf8Bytes(text.slice(start, end));
      end < text.length && spare >= 3;
      spare = limit - utf8Bytes(text.slice(start, end))
    )
      end = Math.min(text.length, end + Math.floor(spare / 3));
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
