/** What may be told of an error whatever it was about: not its message, which may repeat an argument. */
export interface ErrorFacts {
  readonly name: string;
  readonly code?: string;
  /** Where it was thrown, a line each; empty when that is not known. */
  readonly stack: string;
}

/** As classes and codes of errors are spelled; others may be anybody's words. */
const NAME = /^(?:[A-Z]\w{0,50})?(?:Error|Exception)$/;
const CODE = /^[A-Z][A-Z0-9_]{1,50}$/;
const FRAME = /^ +at .*(?::\d+:\d+\)?|\(native\)|<anonymous>\)?)$/;

/** Nothing thrown may break this: it may be a proxy, or an error whose getters throw. */
export function errorFacts(error: unknown): ErrorFacts {
  try {
    if (!(error instanceof Error)) return { name: typeof error, stack: '' };
    const { name, message, stack = '' } = error;
    const code = 'code' in error && typeof error.code === 'string' && CODE.test(error.code) ? { code: error.code } : {};
    return { name: NAME.test(name) ? name : 'Error', ...code, stack: framesOf(stack, message) };
  } catch {
    return { name: 'unknown', stack: '' };
  }
}

/** The stack begins with the message, whose lines may look like any. */
function framesOf(stack: string, message: string): string {
  const after = stack.indexOf(message);
  const frames = (after < 0 ? stack : stack.slice(after + message.length)).split('\n').filter((line) => FRAME.test(line));
  return frames.join('\n');
}

/** An error in place of another, of which it has the facts and nothing else. */
export function withoutMessage(error: unknown): Error {
  const { code, ...facts } = errorFacts(error);
  return Object.assign(new Error('(not logged)'), facts, code === undefined ? {} : { code });
}
