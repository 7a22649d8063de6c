import { HandrailError } from '../../core/errors.ts';

/** Why a SKILL.md cannot be read; the line is in `extra.line`. */
export function refusal(line: number, reason: string): HandrailError {
  return new HandrailError('BAD_REQUEST', reason, { extra: { line } });
}
