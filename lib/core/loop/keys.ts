import { executionName, type RunKey } from '../ids.ts';
import type { Frame } from './frames.ts';
import type { Run } from './run.ts';

const six = (value: number): string => String(value).padStart(6, '0');

/** `MSG#<frame>#<runSeq>#<step>#<attempt>#`: where one commit of a frame keeps its messages (design 3.2). */
export function messagePrefix(frame: Pick<Frame, 'namespace'>, run: Pick<Run, 'runSeq' | 'step' | 'attempt'>): string {
  return `MSG#${frame.namespace}#${six(run.runSeq)}#${six(run.step)}#${run.attempt}#`;
}

/** Key of a call that waits for a permit (design 6.5). */
export const waiterKey = (runId: string, callId: string): string => `${runId}#${callId}`;

/** Key of a call's lease in the permits item (design 6.5). */
export const leaseKey = (runId: string, callId: string, attempt: string): string => `${waiterKey(runId, callId)}#${attempt}`;

export const keyOf = ({ tenant, runId }: RunKey): RunKey => ({ tenant, runId });

export const currentExecution = (run: Pick<Run, 'runId' | 'execution'>): string => executionName(run.runId, run.execution);

/** Parts of a prefix made by {@link messagePrefix}; undefined when it is none. A frame's name may hold anything, so it is read from the end. */
export function parsePrefix(
  prefix: string,
): { readonly frame: string; readonly runSeq: number; readonly step: number; readonly attempt: string } | undefined {
  const match = /^MSG#(.+)#(\d{6})#(\d{6})#([^#]*)#$/.exec(prefix);
  if (!match) return undefined;
  const [, frame = '', runSeq, step, attempt = ''] = match;
  return { frame, runSeq: Number(runSeq), step: Number(step), attempt };
}
