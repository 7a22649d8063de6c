import type { JsonObject } from '../json.ts';

/** Step Functions, or the embedded engine in its place. Execution names are unique. */
export interface Engine {
  /** `exists` when an execution of that name runs or ran. */
  start(name: string, input: JsonObject): Promise<'started' | 'exists'>;
  /** `gone` when the token was answered, timed out, or belongs to a closed execution. */
  sendTaskSuccess(token: string, output: JsonObject): Promise<'delivered' | 'gone'>;
  status(name: string): Promise<'running' | 'closed' | 'absent'>;
}
