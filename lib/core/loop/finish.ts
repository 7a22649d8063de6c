import { type Code, HandrailError } from '../errors.ts';
import { cutText } from '../hands/text.ts';
import { ANSWER_BYTES } from '../limits.ts';
import { maskSecrets } from '../preview.ts';
import type { OpenCall } from './frames.ts';
import { closeBatch, observe, refuse } from './observe.ts';
import { OUTCOMES, type Outcome } from './run.ts';
import { emit, openCalls, type Step, setPlan, transcript } from './step.ts';

const ANSWER_CUT = '\n\n... (cut here; the whole answer stands in the messages of the session)';

export interface Ending {
  readonly outcome: Outcome;
  /** Absent: the best there is, the LLM's last words. */
  readonly answer?: string;
  readonly error?: { code: Code; message: string };
  /** What to say of calls that were dispatched and whose results have not come. */
  readonly inFlight?: 'cancelled' | 'unknown';
}

/**
 * Ends the run in this step: every call that is still open is answered, the outcome stands in the commit
 * (design 3.2.4 and section 4, "Cancelling"). Only that commit makes it true.
 */
export async function finishRun(step: Step, ending: Ending): Promise<void> {
  const { run } = step;
  const answer = ending.answer ?? (await lastWords(step));
  for (const frame of run.frames) {
    for (const call of openCalls(frame)) observe(step, frame, call, refuse(step, call, closing(call, ending)));
    closeBatch(frame);
  }
  run.status = OUTCOMES[ending.outcome];
  run.outcome = ending.outcome;
  if (answer !== undefined) run.answer = cutText(answer.toWellFormed(), ANSWER_BYTES, ANSWER_CUT).text;
  if (ending.error) run.error = { ...ending.error, message: maskSecrets(ending.error.message).toWellFormed() };
  run.endedAt = step.deps.clock.now();
  setPlan(step, { next: 'finish' });
  emit(step, 'run.finished', { status: run.status, outcome: ending.outcome, ...(ending.error ? { error: { ...ending.error } } : {}) });
}

function closing(call: OpenCall, ending: Ending): HandrailError {
  if (call.state !== 'inflight') return new HandrailError('CANCELLED', `the run ended (${ending.outcome}); this call did not run`);
  return ending.inFlight === 'unknown'
    ? new HandrailError('OUTCOME_UNKNOWN', `the run ended (${ending.outcome}) while this call was in flight; check before you repeat it`)
    : new HandrailError('CANCELLED', `the run ended (${ending.outcome}) while this call was in flight; it may be half done`);
}

/** The newest text of the assistant in this run. */
async function lastWords(step: Step): Promise<string | undefined> {
  const messages = await transcript(step);
  for (const { runSeq, message } of messages.toReversed())
    if (runSeq === step.run.runSeq && message.role === 'assistant' && message.text !== '') return message.text;
  return undefined;
}
