import { describe, expect, it } from 'vitest';
import { HandrailError } from '../../../../lib/core/errors.ts';
import type { ToolContext, ToolHandler } from '../../../../lib/core/hands/category.ts';
import { type CallDeps, longestFlightMs, outcomeOf, retriesOf, runCall } from '../../../../lib/core/hands/lifecycle.ts';
import { jsonBytes } from '../../../../lib/core/json.ts';
import { ARGUMENTS_BYTES, ESCAPED_ERROR_BYTES } from '../../../../lib/core/limits.ts';
import { silentLogger } from '../../../../lib/core/ports/logger.ts';

const call = {
  callId: 'c1-0',
  tool: 'a_tool',
  category: 'file',
  functionName: 'file',
  arguments: { path: 'a' },
  timeoutMs: 5_000,
  idempotent: false,
  maxRetries: 0,
  resultBudget: 1_000,
  tenant: 't1',
  sessionId: 's1',
  namespace: 'main',
  runId: `r-${'0'.repeat(26)}`,
};

/** Time stands still until a test moves it. */
function rig(handler: ToolHandler, more: Partial<CallDeps> = {}) {
  let now = 1_000;
  const timers: { at: number; callback: () => void }[] = [];
  const deps: CallDeps = {
    handlers: new Map([['a_tool', handler]]),
    services: {},
    clock: { now: () => now },
    logger: silentLogger,
    startTimer: (ms, callback) => {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
    ...more,
  };
  const advance = (ms: number): void => {
    now += ms;
    for (const timer of timers.filter(({ at }) => at <= now)) timer.callback();
  };
  return { deps, advance, timers };
}

const failing =
  (error: unknown): ToolHandler =>
  async () => {
    throw error;
  };
const hanging: ToolHandler = () => new Promise(() => {});

describe('a call', () => {
  it('gives the handler its arguments and context, and answers with the processed result', async () => {
    let seen: { args: unknown; context: ToolContext } | undefined;
    const { deps, advance, timers } = rig(async (args, context) => {
      seen = { args, context };
      advance(40);
      return { json: { ok: true } };
    });
    const answer = await runCall(call, deps);
    expect(answer).toEqual({
      callId: 'c1-0',
      result: {
        success: true,
        data: '{\n  "ok": true\n}',
        metadata: { toolName: 'a_tool', duration: 40, truncated: false, timestamp: 1_040 },
      },
    });
    expect(seen?.args).toEqual({ path: 'a' });
    expect(seen?.context).toMatchObject({
      tenant: 't1',
      sessionId: 's1',
      namespace: 'main',
      idempotencyKey: `${call.runId}:c1-0`,
      timeoutMs: 5_000,
      previousResults: [],
    });
    expect(timers).toEqual([]);
  });

  it('keeps the budget of the call', async () => {
    const { deps } = rig(async () => ({ text: '€'.repeat(5_000) }));
    const { result } = await runCall(call, deps);
    expect(jsonBytes(result.data)).toBeLessThanOrEqual(1_002);
    expect(result.metadata.truncated).toBe(true);
  });

  it('says where the whole of a long result lies, kept once, and only if it was cut', async () => {
    const kept: string[] = [];
    const keepWhole: CallDeps['keepWhole'] = async ({ callId }, whole) => {
      kept.push(whole);
      return `.handrail/output/${callId}`;
    };
    const long = rig(async () => ({ text: 'line\n'.repeat(2_000) }), { keepWhole });
    const { result } = await runCall(call, long.deps);
    expect(result.data).toContain('the whole is in the workspace file ".handrail/output/c1-0"');
    expect(jsonBytes(result.data)).toBeLessThanOrEqual(1_002);
    expect(kept).toEqual(['line\n'.repeat(2_000)]);
    await runCall(call, rig(async () => ({ text: 'short' }), { keepWhole }).deps);
    const file = await runCall(call, rig(async () => ({ text: 'x'.repeat(5_000), source: 'big.txt' }), { keepWhole }).deps);
    expect(file.result.data).toContain('the whole is in the workspace file "big.txt"');
    expect(kept).toHaveLength(1);
  });

  it.each([
    ['cannot', async () => undefined],
    ['fails to', () => Promise.reject(new Error('disk'))],
  ])('is only cut where the workspace %s keep it', async (_how, keepWhole) => {
    const { result } = await runCall(call, rig(async () => ({ text: 'x'.repeat(5_000) }), { keepWhole }).deps);
    expect(result).toMatchObject({ success: true, metadata: { truncated: true } });
    expect(result.data).toContain('ask for less or for a part');
  });

  it.each([
    ['a HandrailError', failing(new HandrailError('FILE_NOT_FOUND', 'no a')), 'FILE_NOT_FOUND'],
    ['anything thrown', failing('boom'), 'UNHANDLED'],
    [
      'a throw before the first await',
      (() => {
        throw new HandrailError('NETWORK_ERROR', 'down');
      }) as ToolHandler,
      'NETWORK_ERROR',
    ],
  ])('%s is a result', async (_name, handler, code) => {
    const { deps, timers } = rig(handler);
    expect((await runCall(call, deps)).result).toMatchObject({ success: false, error: { code } });
    expect(timers).toEqual([]);
  });

  it('answers for a tool that is not there', async () => {
    const { deps } = rig(hanging);
    expect((await runCall({ ...call, tool: 'other' }, deps)).result.error?.code).toBe('TOOL_NOT_FOUND');
    expect((await runCall({ ...call, tool: '__proto__' }, deps)).result.error?.code).toBe('TOOL_NOT_FOUND');
  });

  it.each([
    ['malformed', { ...call, tenant: '../other' }],
    ['without arguments', { ...call, arguments: [] }],
    ['with arguments over the limit', { ...call, arguments: { text: 'x'.repeat(ARGUMENTS_BYTES) } }],
    ['over the size of state data', { ...call, arguments: { text: 'x'.repeat(300_000) } }],
    ['nested without end', { ...call, arguments: JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) }],
  ])('%s is refused without running', async (_name, input) => {
    let ran = false;
    const { deps } = rig(async () => {
      ran = true;
      return { text: '' };
    });
    expect((await runCall(input, deps)).result.error?.code).toBe('INVALID_ARGUMENTS');
    expect(ran).toBe(false);
  });

  it('is an error of the caller when it has no id to answer to', async () => {
    await expect(runCall({ tool: 'a_tool' }, rig(hanging).deps)).rejects.toThrow();
  });
});

describe('the deadline', () => {
  it('ends the call even when the handler ignores its signal; what it did is unknown', async () => {
    let signal: AbortSignal | undefined;
    const { deps, advance } = rig((_args, context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    const answer = runCall(call, deps);
    advance(4_999);
    expect(signal?.aborted).toBe(false);
    advance(1);
    expect((await answer).result).toMatchObject({
      success: false,
      error: { code: 'OUTCOME_UNKNOWN', message: expect.stringContaining('5000 ms') },
      metadata: { duration: 5_000 },
    });
    expect(signal?.aborted).toBe(true);
  });

  it('is TIMEOUT for an idempotent tool, whatever the handler says when it is stopped', async () => {
    const { deps, advance } = rig(
      (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('AbortError')))),
    );
    const answer = runCall({ ...call, idempotent: true }, deps);
    advance(5_000);
    expect((await answer).result.error).toMatchObject({ code: 'TIMEOUT', recoverable: true });
  });

  it('a handler that fails after its deadline disturbs nobody', async () => {
    let fail: (error: Error) => void = () => {};
    const { deps, advance } = rig(
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    const answer = runCall(call, deps);
    advance(5_000);
    await answer;
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('a stopping environment cancels the call under way, and begins no other', async () => {
    const controller = new AbortController();
    let begun = 0;
    const { deps } = rig(
      () => {
        begun += 1;
        return new Promise(() => {});
      },
      { signal: controller.signal },
    );
    const answer = runCall(call, deps);
    controller.abort();
    expect((await answer).result.error?.code).toBe('CANCELLED');
    expect((await runCall(call, deps)).result.error?.code).toBe('CANCELLED');
    expect(begun).toBe(1);
  });
});

describe('retries are the state machine’s', () => {
  const idempotent = { ...call, idempotent: true, maxRetries: 2 };

  it.each(['TIMEOUT', 'NETWORK_ERROR', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'] as const)(
    '%s of an idempotent tool is thrown as RETRY_2',
    async (code) => {
      const { deps } = rig(failing(new HandrailError(code, 'try later')));
      const error = await runCall(idempotent, deps).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: 'RETRY_2', stack: '' });
      expect(JSON.parse(String(Reflect.get(Object(error), 'message')))).toEqual({ code, message: 'try later' });
    },
  );

  it('carries at most 1 KB as Lambda reports it', async () => {
    for (const message of ['"\\\n'.repeat(1_000), '€'.repeat(5_000), '\u0001'.repeat(5_000), `${'\ud83d\ude00'.repeat(3_000)}`]) {
      const { deps } = rig(failing(new HandrailError('NETWORK_ERROR', message)));
      const error = await runCall(idempotent, deps).catch((thrown: unknown) => thrown);
      if (!(error instanceof Error)) throw new Error('expected an error');
      expect(jsonBytes({ errorType: error.name, errorMessage: error.message, trace: [error.stack] })).toBeLessThanOrEqual(
        ESCAPED_ERROR_BYTES,
      );
      expect(JSON.parse(error.message)).toHaveProperty('code', 'NETWORK_ERROR');
    }
  });

  it.each([
    ['a failure that is not retryable', { ...idempotent }, 'FILE_NOT_FOUND'],
    ['a tool that is not idempotent', { ...call, maxRetries: 2 }, 'NETWORK_ERROR'],
    ['no retries', { ...idempotent, maxRetries: 0 }, 'NETWORK_ERROR'],
  ] as const)('%s is a result', async (_name, input, code) => {
    const { deps } = rig(failing(new HandrailError(code, 'x')));
    expect((await runCall(input, deps)).result.error?.code).toBe(code);
  });

  it('only an idempotent tool has any, and its lease covers them with their pauses', () => {
    expect(retriesOf({ idempotent: true, retry: { maxRetries: 3 } })).toBe(3);
    expect(retriesOf({ idempotent: false, retry: { maxRetries: 3 } })).toBe(0);
    expect(longestFlightMs(5_000, 0)).toBe(5_000);
    expect(longestFlightMs(5_000, 2)).toBe(15_000 + 1_000 + 2_000);
    expect(longestFlightMs(1_000, 5)).toBe(6_000 + 1_000 + 2_000 + 4_000 + 8_000 + 10_000);
  });
});

describe('what the state machine caught', () => {
  const outcome = (name: string, facts: { idempotent: boolean; category?: string }, text?: string) =>
    outcomeOf(
      { error: { Error: name, ...(text === undefined ? {} : { Cause: text }) } },
      { tool: 'a_tool', category: 'file', now: 7, ...facts },
    ).error;
  const cause = JSON.stringify({
    errorType: 'RETRY_2',
    errorMessage: JSON.stringify({ code: 'NETWORK_ERROR', message: 'down' }),
    trace: [''],
  });

  it.each([
    ['Lambda.TooManyRequestsException', 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
    ['Lambda.ResourceNotFoundException', 'UNHANDLED', 'UNHANDLED'],
    ['Lambda.AccessDeniedException', 'UNHANDLED', 'UNHANDLED'],
    ['AccessDeniedException', 'UNHANDLED', 'UNHANDLED'],
    ['States.Timeout', 'TIMEOUT', 'OUTCOME_UNKNOWN'],
    ['Sandbox.Timedout', 'TIMEOUT', 'OUTCOME_UNKNOWN'],
    ['RETRY_2', 'RETRY_EXHAUSTED', 'OUTCOME_UNKNOWN'],
    ['Lambda.Unknown', 'UNHANDLED', 'OUTCOME_UNKNOWN'],
    ['Runtime.ExitError', 'UNHANDLED', 'OUTCOME_UNKNOWN'],
    ['', 'UNHANDLED', 'OUTCOME_UNKNOWN'],
  ])('%s: %s, or %s when it must not run twice', (error, idempotent, other) => {
    expect(outcome(error, { idempotent: true })?.code).toBe(idempotent);
    expect(outcome(error, { idempotent: false })?.code).toBe(other);
  });

  it('a crash in code is the sandbox’s', () => {
    expect(outcome('Runtime.ExitError', { idempotent: true, category: 'code' })?.code).toBe('SANDBOX_CRASHED');
  });

  it('RETRY_EXHAUSTED tells the last error', () => {
    expect(outcome('RETRY_2', { idempotent: true }, cause)?.message).toBe('a_tool failed 3 times; last error NETWORK_ERROR: down');
  });

  it.each([['{'], ['null'], ['{"errorMessage":"no JSON"}'], ['{"errorMessage":"{\\"code\\":\\"MADE_UP\\",\\"message\\":\\"x\\"}"}']])(
    'a Cause that cannot be read (%s) changes nothing else',
    (text) => {
      expect(outcome('RETRY_2', { idempotent: true }, text)).toMatchObject({ code: 'RETRY_EXHAUSTED', message: 'a_tool failed 3 times' });
    },
  );
});
