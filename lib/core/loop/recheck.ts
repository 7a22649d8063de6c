import { HandrailError } from '../errors.ts';
import { readArguments } from '../hands/arguments.ts';
import type { Frame } from './frames.ts';
import { observe, refuse } from './observe.ts';
import { openCalls, type Step, transcript } from './step.ts';
import { argumentsOf } from './transcript.ts';

/**
 * Lookup, permission and arguments as of now, for calls that an earlier step accepted and nobody has dispatched yet
 * (design 5.2): a person may have taken days, and a deployment may have come between. Those that fail are answered.
 */
export async function recheckCalls(step: Step, frame: Frame): Promise<void> {
  const { registry } = step.deps;
  if (!frame.batch || frame.batch.step === step.run.step) return;
  const history = await transcript(step);
  for (const call of openCalls(frame)) {
    const definition = registry.get(call.tool);
    const denied = definition ? registry.deniedPermissions(definition) : gone(call.tool);
    const read = definition && readArguments(argumentsOf(history, step.run.runSeq, call.callId), definition);
    const error = denied ?? (read?.ok === false ? read.error : undefined);
    if (error) observe(step, frame, call, refuse(step, call, error));
  }
}

const gone = (tool: string): HandrailError =>
  new HandrailError('TOOL_NOT_FOUND', `the tool ${tool} is not there any more; the call did not run`);
