import { fenced } from '../outside.ts';
import type { PromptMessage } from '../ports/model.ts';
import { APPROVE_NODE, type PlacedMessage } from './message.ts';
import { LOST_OBSERVATION, markedText, type Turn, toTurns } from './transcript.ts';

const LEFT_OUT = '[Earlier messages of this conversation are left out.]';
const EMPTY = '(no text)';

/** Text that every provider takes: no half characters, and not blank. */
const shownText = (text: string): string => (text.trim() === '' ? EMPTY : text.toWellFormed());

/**
 * Id of a call as providers see it: 9 letters and digits, unique in the session, the same in every prompt.
 * (Mistral takes exactly 9; Anthropic and Bedrock want ids unique in a request: asl-facts sections 5 to 7.)
 */
export function promptCallId(runSeq: number, callId: string): string {
  const [step = '0', index = '0'] = callId.slice(1).split('-');
  const part = (value: number, width: number): string => (value % 36 ** width).toString(36).padStart(width, '0');
  return `c${part(runSeq, 3)}${part(Number(step), 3)}${part(Number(index), 2)}`;
}

function renderAssistant(turn: Extract<Turn, { kind: 'assistant' }>): PromptMessage[] {
  if (turn.calls.length === 0) {
    const said = shownText(turn.text);
    return [{ role: 'assistant', text: turn.untrusted ? fenced(said) : said, calls: [] }];
  }
  const text = turn.text.trim() === '' ? '' : turn.text.toWellFormed();
  const calls = turn.calls.map(({ call }) => ({ id: promptCallId(turn.runSeq, call.callId), name: call.tool, arguments: call.arguments }));
  const results = turn.calls.map(({ call, observation, edit }) => {
    const marked = observation ? markedText(observation) : LOST_OBSERVATION;
    const edited = edit ? `A person changed the arguments before it ran, to: ${JSON.stringify(edit.arguments)}\n${marked}` : marked;
    const id = promptCallId(turn.runSeq, call.callId);
    return { id, name: call.tool, text: shownText(edited), isError: !(observation?.result.success ?? false) };
  });
  return [
    { role: 'assistant', text, calls },
    { role: 'tool', results },
  ];
}

const sizeOf = (turn: Turn): number => (turn.kind === 'user' ? 1 : 1 + turn.calls.length);

/** Where a tree was the root of an earlier run of the session: what people said to its nodes is no call of any tool. */
function withoutNodes(turn: Turn): Turn[] {
  if (turn.kind === 'user' || !turn.calls.some(({ call }) => call.tool === APPROVE_NODE)) return [turn];
  const calls = turn.calls.filter(({ call }) => call.tool !== APPROVE_NODE);
  return calls.length === 0 && turn.text === '' ? [] : [{ ...turn, calls }];
}

/** The newest turns that hold at most `maxMessages` messages; a turn is never parted. */
function window(turns: readonly Turn[], maxMessages: number): Turn[] {
  let size = 0;
  let first = turns.length;
  while (first > 0) {
    const turn = turns[first - 1];
    if (!turn || (size > 0 && size + sizeOf(turn) > maxMessages)) break;
    size += sizeOf(turn);
    first--;
  }
  return turns.slice(first);
}

/**
 * The prompt's messages: the newest `maxMessages` of the transcript in whole turns. Pure. It begins with a user
 * message, always shows `task` (what this run was asked), and every call in it is followed by its observation.
 */
export function buildPrompt(messages: readonly PlacedMessage[], task: string, maxMessages: number): PromptMessage[] {
  const turns = toTurns(messages).flatMap(withoutNodes);
  const shown = window(turns, maxMessages);
  const prompt = shown.flatMap((turn): PromptMessage[] =>
    turn.kind === 'user' ? [{ role: 'user', text: shownText(turn.text) }] : renderAssistant(turn),
  );
  const cut = shown.length < turns.length;
  const taskShown = shown.some((turn) => turn.kind === 'user' && turn.text === task);
  if (!taskShown) prompt.unshift({ role: 'user', text: cut ? `${shownText(task)}\n\n${LEFT_OUT}` : shownText(task) });
  else if (prompt[0]?.role !== 'user') prompt.unshift({ role: 'user', text: LEFT_OUT });
  return prompt;
}
