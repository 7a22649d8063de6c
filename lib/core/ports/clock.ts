/** Time and chance are given from outside, so that tests own them. */
export interface Clock {
  /** ms since 1970. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface Random {
  bytes(count: number): Uint8Array;
  /** 0 ≤ x < 1 */
  number(): number;
}
