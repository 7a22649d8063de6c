import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { PlacedMessage } from '../../../core/loop/message.ts';
import type { MessageWrite, SessionKey } from '../../../core/ports/run-store.ts';
import type { Item } from './codec.ts';
import { placeholders } from './expression.ts';
import { parseMessagePrefix, sessionPk } from './keys.ts';
import { brokenChain, type ChainWalk, fromMessageItems, walkChain } from './message-items.ts';
import { type DynamoDeps, queryPages } from './requests.ts';

/** Items read beyond the messages still wanted: parts, and what lost commits left. */
const SPARE_ITEMS = 8;
/** Least of a page when a batch's beginning is looked for: a batch is seldom longer. */
const PAGE_ITEMS = 24;

type Through = { readonly runSeq: number; readonly step: number };

/**
 * Messages of the frame whose newest commit is `head`, oldest first: see `RunStore.readTranscript`. One Query backwards
 * per page; a page is about as long as what is still wanted, so a long history costs no more than a short one.
 * `expires`: messages go when their time is over, so the chain may end before its beginning.
 */
export async function readTranscript(
  deps: DynamoDeps,
  key: SessionKey,
  head: string | undefined,
  atLeast: number,
  through: Through | undefined,
  expires = false,
): Promise<PlacedMessage[]> {
  if (head === undefined || (atLeast <= 0 && !through)) return [];
  const walk = walkChain(head, expires);
  let from: Record<string, unknown> | undefined;
  do {
    const page = await queryPage(deps, key, head, pageSize(atLeast - walk.found.length), from);
    for (const item of page.items) {
      walk.take(item);
      if (isEnough(walk, atLeast, through)) return walk.found.toReversed();
    }
    from = page.next;
  } while (from);
  const missing = walk.expected();
  if (missing !== undefined && !expires) throw brokenChain(missing);
  return fromFirstWhole(walk.found.toReversed());
}

/** Where the beginning has expired, results may be left whose calls have not. */
function fromFirstWhole(messages: PlacedMessage[]): PlacedMessage[] {
  const start = messages.findIndex(({ message }) => !('callId' in message));
  return start === -1 ? [] : messages.slice(start);
}

const pageSize = (wanted: number): number => Math.max(wanted, PAGE_ITEMS) + SPARE_ITEMS;

function isEnough(walk: ChainWalk, atLeast: number, through: Through | undefined): boolean {
  if (walk.expected() === undefined) return true;
  const oldest = walk.found.at(-1);
  if (!oldest || walk.found.length < atLeast) return false;
  if (!through) return true;
  const distance = oldest.runSeq - through.runSeq || oldest.step - through.step;
  return distance < 0 || (distance === 0 && oldest.message.role === 'assistant');
}

async function queryPage(deps: DynamoDeps, key: SessionKey, head: string, limit: number, from: Record<string, unknown> | undefined) {
  const at = placeholders();
  // `~` sorts after every digit: the range ends with the last item of the newest commit.
  const condition = `${at.name('pk')}=${at.value(sessionPk(key))} AND ${at.name('sk')} BETWEEN ${at.value(parseMessagePrefix(head).frameStart)} AND ${at.value(`${head}~`)}`;
  const answer = await deps.client.send(
    new QueryCommand({
      TableName: deps.tables.sessions,
      KeyConditionExpression: condition,
      ...at.attributes(),
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: limit,
      ...(from ? { ExclusiveStartKey: from } : {}),
    }),
  );
  return { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
}

/** See `RunStore.listCommits`. */
export async function listCommits(deps: DynamoDeps, key: SessionKey, runSeq: number): Promise<MessageWrite[]> {
  const at = placeholders();
  const condition = `${at.name('pk')}=${at.value(sessionPk(key))} AND begins_with(${at.name('sk')},${at.value('MSG#')})`;
  const items: Item[] = [];
  for await (const page of queryPages(deps, deps.tables.sessions, at, { condition })) items.push(...page);
  return fromMessageItems(items, runSeq);
}
