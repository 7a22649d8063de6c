import { HandrailError } from '../../errors.ts';
import { isJsonObject, type Json, type JsonObject, jsonBytes } from '../../json.ts';
import { SUSPENSION_TTL_MS } from '../../limits.ts';
import type { Frame } from '../../loop/frames.ts';
import { APPROVE_NODE, type PlacedMessage } from '../../loop/message.ts';
import type { Run } from '../../loop/run.ts';
import { argumentsOf } from '../../loop/transcript.ts';
import type { Approval, Suspension } from './suspension.ts';

/** The item may grow to this, tokens and decisions included; DynamoDB takes 400 KB. */
export const SUSPENSION_ITEM_BYTES = 380_000;
/** What it may take when it is opened. */
const OPEN_BYTES = 280_000;
/** Kept free for task tokens, and per call for its decision and all that is not arguments. */
const TOKENS_BYTES = 20_000;
const CALL_BYTES = 2_700;
const REASON_CHARACTERS = 500;
const FALLBACK_REASON = 'a person must approve this call';
const QUESTION_REASON = 'the agent asks a question';

export interface SuspensionOptions {
  /** Time to decide, ms. */
  readonly ttlMs: number;
  /** Whether a call of this tool asks a person for an answer, and not for leave to run. */
  isQuestion(tool: string): boolean;
}

/**
 * The suspension that the committed plan of `run` waits for: one approval for each blocked call of the frame's batch.
 * A pure function of what is committed, so that it can be put again; only the first put counts.
 */
export function buildSuspension(run: Run, frame: Frame, history: readonly PlacedMessage[], options: SuspensionOptions): Suspension {
  if (run.plan?.next !== 'suspend') throw new HandrailError('INTERNAL', `run ${run.runId} does not wait for anybody at step ${run.step}`);
  const blocked = frame.batch?.calls.filter((call) => call.state === 'blocked') ?? [];
  const budget = Math.floor(
    Math.min(OPEN_BYTES / Math.max(1, blocked.length), (SUSPENSION_ITEM_BYTES - TOKENS_BYTES) / Math.max(1, blocked.length) - CALL_BYTES),
  );
  const expiresAt = run.updatedAt + options.ttlMs;
  const approvals = blocked.map((call): [string, Approval] => {
    const whole = argumentsOf(history, run.runSeq, call.callId);
    const shown = fitArguments(whole, budget);
    const question = options.isQuestion(call.tool);
    return [
      call.callId,
      {
        callId: call.callId,
        kind: call.tool === APPROVE_NODE ? 'node' : question ? 'question' : 'tool',
        tool: call.tool,
        arguments: shown,
        argumentsCut: shown !== whole,
        reason: question ? QUESTION_REASON : askedBy(run, call.callId),
        hash: call.hash,
        status: 'pending',
        requestedAt: run.updatedAt,
        expiresAt,
      },
    ];
  });
  return {
    v: 1,
    suspensionId: run.plan.suspensionId,
    tenant: run.tenant,
    runId: run.runId,
    sessionId: run.sessionId,
    principal: run.principal,
    createdAt: run.updatedAt,
    approvals: Object.fromEntries(approvals),
    tokens: [],
    dueAt: expiresAt,
    ttl: Math.ceil((expiresAt + SUSPENSION_TTL_MS) / 1000),
  };
}

/** The rule that asked, as the guard's event of this very commit tells it. */
function askedBy(run: Run, callId: string): string {
  const event = run.events.findLast(({ type, data }) => type === 'guard.decision' && data['callId'] === callId);
  const reason = event?.data['reason'];
  return typeof reason === 'string' && reason !== '' ? reason.slice(0, REASON_CHARACTERS).toWellFormed() : FALLBACK_REASON;
}

/** Characters of each text and entries of each list that are tried in turn. */
const CUTS = [
  { text: 16_000, entries: 200 },
  { text: 2_000, entries: 50 },
  { text: 300, entries: 20 },
  { text: 60, entries: 10 },
] as const;

/** Arguments as a person is shown them, in at most `bytes`: texts and lists shortened, with a note of what is missing. */
export function fitArguments(args: JsonObject, bytes: number): JsonObject {
  if (jsonBytes(args) <= bytes) return args;
  for (const cut of CUTS) {
    const shorter = shorten(args, cut);
    if (isJsonObject(shorter) && jsonBytes(shorter) <= bytes) return shorter;
  }
  // Control characters take six bytes each as JSON.
  const preview = JSON.stringify(args).slice(0, Math.max(0, Math.floor((bytes - 40) / 6)));
  return { '…': preview.toWellFormed() };
}

function shorten(value: Json, cut: { text: number; entries: number }): Json {
  if (typeof value === 'string') return shortenText(value, cut.text);
  if (Array.isArray(value)) {
    const left = value.length - cut.entries;
    const kept = value.slice(0, cut.entries).map((item) => shorten(item, cut));
    return left > 0 ? [...kept, `… [${left} more]`] : kept;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const left = entries.length - cut.entries;
  const kept = entries.slice(0, cut.entries).map(([key, item]) => [shortenText(key, cut.text), shorten(item, cut)] as const);
  return Object.fromEntries(left > 0 ? [...kept, ['…', `[${left} more]`] as const] : kept);
}

function shortenText(text: string, characters: number): string {
  const left = text.length - characters;
  return left > 0 ? `${text.slice(0, characters)}… [${left} more characters]`.toWellFormed() : text;
}
