import { choicesOf } from '../core/guard/approvals/decide.ts';
import { readArguments } from '../core/hands/arguments.ts';
import type { ToolDefinition } from '../core/hands/define-tool.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { maskJson } from '../core/preview.ts';
import { parseJson } from './body.ts';
import { editable } from './pages/shown.ts';
import { HttpError } from './problem.ts';
import type { DecisionRequest } from './services.ts';
import { unmask } from './unmask.ts';
import type { ApprovalView } from './views/approval-view.ts';

/** Where a person's input is wrong. `callId` undefined: the whole. */
export interface FormProblem {
  readonly callId?: string | undefined;
  readonly field?: 'arguments' | 'reason' | 'answer' | undefined;
  readonly message: string;
}

/** What was sent by the page's form, or would be. */
export interface ApprovalForm {
  /** The link's token. */
  readonly token: string | undefined;
  /** The button: `approve:c3-0`, `edit:c3-0`, `reject:c3-0`, `answer:c3-0`, `choose:c3-0:1`, `approve-all`, `reject-all`. */
  readonly action: string;
  /** Calls that the page asked about when it was shown. */
  readonly asked: readonly string[];
  text(field: 'arguments' | 'reason' | 'answer', callId: string): string | undefined;
}

export function approvalForm(fields: URLSearchParams): ApprovalForm {
  // Browsers send line breaks of a form as CR LF.
  const get = (name: string) => fields.get(name)?.replaceAll('\r\n', '\n');
  return {
    token: get('t') || undefined,
    action: get('do') ?? '',
    asked: fields.getAll('asked'),
    text: (field, callId) => get(`${field}.${callId}`),
  };
}

/** The arguments as the page's editor shows them: secrets masked, since a link may pass through many hands. */
export const editorText = ({ arguments: args }: Pick<ApprovalView, 'arguments'>): string => editable(maskJson(args));

/** The decisions that a form stands for, or what is wrong with it. */
export function decisionsOf(
  form: ApprovalForm,
  approvals: readonly ApprovalView[],
  tools: readonly ToolDefinition[],
): { readonly decisions: readonly DecisionRequest[] } | { readonly problem: FormProblem } {
  try {
    const [verb = '', callId = '', index] = form.action.split(':');
    if (verb === 'approve-all' || verb === 'reject-all') return { decisions: all(verb, form, approvals) };
    const approval = approvals.find((one) => one.callId === callId);
    if (!approval) throw new Wrong({ message: 'Choose what to do: nothing was decided.' });
    return { decisions: [one(verb, approval, index, form, tools)] };
  } catch (error) {
    if (error instanceof Wrong) return { problem: error.problem };
    throw error;
  }
}

class Wrong extends Error {
  readonly problem: FormProblem;
  constructor(problem: FormProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

function one(
  verb: string,
  approval: ApprovalView,
  index: string | undefined,
  form: ApprovalForm,
  tools: readonly ToolDefinition[],
): DecisionRequest {
  const { approvalId, callId } = approval;
  const reason = form.text('reason', callId)?.trim();
  const because = reason ? { reason } : {};
  switch (verb) {
    case 'approve':
      refuseUnsentEdit(form, approval);
      return { approvalId, decision: 'approve', ...because };
    case 'edit':
      return { approvalId, decision: 'approve', ...because, arguments: editedArguments(form, approval, tools) };
    case 'reject':
      return { approvalId, decision: 'reject', ...because };
    case 'choose': {
      const choice = choicesOf(approval)?.[Number(index)];
      if (choice === undefined) throw new Wrong({ callId, message: 'That is none of the choices.' });
      return { approvalId, decision: 'answer', answer: choice };
    }
    case 'answer': {
      const answer = form.text('answer', callId) ?? '';
      if (answer.trim() === '') throw new Wrong({ callId, field: 'answer', message: 'Write an answer first.' });
      return { approvalId, decision: 'answer', answer };
    }
    default:
      throw new Wrong({ message: 'Choose what to do: nothing was decided.' });
  }
}

/** Those that the person saw as open, and no others. Questions have no common answer. */
function all(verb: string, form: ApprovalForm, approvals: readonly ApprovalView[]): DecisionRequest[] {
  const wanted = approvals.filter(({ callId, kind }) => kind !== 'question' && form.asked.includes(callId));
  if (wanted.length === 0) throw new Wrong({ message: 'There is nothing left to decide.' });
  const reason = form.text('reason', 'all')?.trim();
  const decision = verb === 'approve-all' ? 'approve' : 'reject';
  if (decision === 'approve') for (const approval of wanted) refuseUnsentEdit(form, approval);
  return wanted.map(({ approvalId }) => ({ approvalId, decision, ...(reason ? { reason } : {}) }));
}

/** Who changed the text and then approves without it would believe that the change runs. */
function refuseUnsentEdit(form: ApprovalForm, approval: ApprovalView): void {
  const { callId } = approval;
  const sent = form.text('arguments', callId);
  if (sent === undefined || sent.trim() === editorText(approval).trim()) return;
  throw new Wrong({
    callId,
    field: 'arguments',
    message: 'You changed the arguments. Choose “Approve with these arguments”, or put the text back to approve what the agent asked for.',
  });
}

function editedArguments(form: ApprovalForm, approval: ApprovalView, tools: readonly ToolDefinition[]): JsonObject {
  const { callId, tool } = approval;
  const wrong = (message: string) => new Wrong({ callId, field: 'arguments', message });
  const edited = readEdited(form.text('arguments', callId) ?? '', wrong);
  if (!isJsonObject(edited)) throw wrong('The arguments are one JSON object: { "name": value, … }.');
  const unmasked = unmask(edited, approval.arguments, wrong);
  if (!isJsonObject(unmasked)) throw wrong('The arguments are one JSON object.');
  const definition = tools.find(({ name }) => name === tool);
  if (definition === undefined) return unmasked;
  const read = readArguments(unmasked, definition);
  if (!read.ok)
    throw wrong([`${tool} would refuse them. ${read.error.message}`, ...read.error.suggestions.map((line) => `- ${line}`)].join('\n'));
  return unmasked;
}

function readEdited(text: string, wrong: (message: string) => Error): Json {
  if (text.trim() === '') throw wrong('There are no arguments here. For none at all, write { }.');
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw wrong(`This is not valid JSON: ${error.cause instanceof Error ? whereIn(error.cause.message) : error.message}.`);
  }
}

/** What the parser says, as a person would: where it knows the place, the place. */
function whereIn(complaint: string): string {
  const place = /\(line (\d+) column (\d+)\)/.exec(complaint);
  const what = complaint.replace(/ in JSON at position.*$/s, '').replace(/ is not valid JSON$/, '');
  const words = `${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  return place ? `${words}, at line ${place[1]}, column ${place[2]}` : words;
}
