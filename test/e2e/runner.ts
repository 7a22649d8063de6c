/** Where the end-to-end suite runs: one body, two of these. */
export interface Runner {
  readonly url: string;
  /** Value of the Authorization header. */
  readonly authorization: string;
  /** Has everything settled that is due; undefined where the suite has to wait for the minute. */
  readonly sweep: (() => Promise<void>) | undefined;
  /** Names of the states that an execution entered, one for each transition that AWS bills; undefined where nobody can tell. */
  readonly transitions: ((execution: string) => Promise<readonly string[]>) | undefined;
  close(): Promise<void>;
}
