import type { Suspension } from '../guard/approvals/suspension.ts';
import { suspensionIdOf } from '../ids.ts';
import type { GuardStore } from '../ports/guard-store.ts';
import type { MessageWrite, RunStore } from '../ports/run-store.ts';
import type { PlacedEvent } from './event.ts';
import { keyOf, parsePrefix } from './keys.ts';
import type { Message } from './message.ts';
import type { Run } from './run.ts';

/** A message as the audit shows it: the frame that said it, and where it stands there. */
export interface ExportedMessage {
  readonly frame: string;
  readonly step: number;
  readonly index: number;
  readonly message: Message;
}

/** All that is kept of a run, in order of step. */
export interface RunExport {
  readonly messages: readonly ExportedMessage[];
  readonly events: readonly PlacedEvent[];
  readonly suspensions: readonly Suspension[];
}

/**
 * What a run said, did and was allowed, child frames included. Messages of attempts that lost their commit were never
 * part of it and are left out. Suspensions are dropped 30 days after they closed; their decisions stand in the events too.
 */
export async function exportRun(deps: { readonly runs: RunReader; readonly guard: SuspensionReader }, run: Run): Promise<RunExport> {
  const commits = await commitsOf(deps.runs, run);
  const events = await deps.runs.readEvents(keyOf(run), 0);
  const suspensions = await Promise.all(suspensionIdsOf(run, events).map((id) => deps.guard.getSuspension(id)));
  const messages = wonCommits(run, commits).flatMap(({ prefix, messages: said }) => {
    const place = parsePrefix(prefix);
    return place ? said.map((message, index) => ({ frame: place.frame, step: place.step, index, message })) : [];
  });
  return {
    messages: messages.sort((a, b) => a.step - b.step),
    events,
    suspensions: suspensions.filter((found): found is Suspension => found !== undefined && found.tenant === run.tenant),
  };
}

/** The inputs of a run are written before it has taken its place in the session: under number 0. */
async function commitsOf(runs: RunReader, run: Run): Promise<readonly MessageWrite[]> {
  if (run.runSeq === 0) return [];
  const commits = await runs.listCommits(run, run.runSeq);
  const inputs = namedValues(run).filter((at) => parsePrefix(at)?.runSeq === 0);
  if (inputs.length === 0) return commits;
  return [...(await runs.listCommits(run, 0)).filter(({ prefix }) => inputs.includes(prefix)), ...commits];
}

/** Where the values are that the run's item names. */
function namedValues({ frames, storedChanges = {} }: Pick<Run, 'frames' | 'storedChanges'>): string[] {
  const boards = frames.flatMap((frame) => (frame.kind === 'tree' ? Object.values(frame.blackboard) : []));
  const inputs = boards.flatMap((entry) => ('stored' in entry && entry.at !== undefined ? [entry.at] : []));
  return [...inputs, ...Object.values(storedChanges).map(({ at }) => at)];
}

/** Every stop of a run for people: each left an event, and no event is ever dropped. */
export function suspensionIdsOf({ runId }: Pick<Run, 'runId'>, events: readonly PlacedEvent[]): string[] {
  const steps = events.flatMap(({ type, step }) => (type === 'approval.requested' ? [step] : []));
  return [...new Set(steps)].map((step) => suspensionIdOf(runId, step));
}

type RunReader = Pick<RunStore, 'listCommits' | 'readEvents'>;
type SuspensionReader = Pick<GuardStore, 'getSuspension'>;

/**
 * The commits that became part of the run: those on the chain of a frame it still has, values that it names, and whatever was
 * written in the same commit as one of these (an attempt's id is its own), with the chain behind it: so the last words of a child frame
 * stand beside the observation that they became.
 */
export function wonCommits(run: Pick<Run, 'frames' | 'storedChanges'>, commits: readonly MessageWrite[]): MessageWrite[] {
  const byPrefix = new Map(commits.map((commit) => [commit.prefix, commit]));
  const won = new Map<string, MessageWrite>();
  const follow = (head: string | undefined): void => {
    for (let commit = byPrefix.get(head ?? ''); commit && !won.has(commit.prefix); commit = byPrefix.get(commit.prev ?? ''))
      won.set(commit.prefix, commit);
  };
  for (const { head } of run.frames) follow(head);
  for (const at of namedValues(run)) follow(at);
  for (let before = -1; before !== won.size; ) {
    before = won.size;
    const made = new Set([...won.keys()].map(commitOf));
    for (const { prefix } of commits) if (made.has(commitOf(prefix))) follow(prefix);
  }
  return commits.filter(({ prefix }) => won.has(prefix));
}

function commitOf(prefix: string): string {
  const place = parsePrefix(prefix);
  return `${place?.step}#${place?.attempt}`;
}
