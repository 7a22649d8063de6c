import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../core/json.ts';

export interface IssuedToken {
  readonly token: string;
  /** What the token was answered with. Never settles once revoked. */
  readonly answer: Promise<JsonObject>;
  /** Its task is over: later answers find nothing. */
  readonly revoke: () => void;
}

/** Task tokens of executions in this process. Each is answered at most once. */
export class TaskTokens {
  readonly #waiting = new Map<string, (output: JsonObject) => void>();

  issue(): IssuedToken {
    const token = randomBytes(32).toString('base64url');
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    this.#waiting.set(token, resolve);
    return { token, answer: promise, revoke: () => void this.#waiting.delete(token) };
  }

  /** False when the token was answered, revoked, or never issued. */
  answer(token: string, output: JsonObject): boolean {
    const resolve = this.#waiting.get(token);
    this.#waiting.delete(token);
    resolve?.(output);
    return resolve !== undefined;
  }
}
