/** People are asked for decisions. What it shows of arguments is short and has secrets masked. */
export interface Notice {
  readonly tenant: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly suspensionId: string;
  /** Address of the approval page. Whoever has it may decide, unless `approvals.self_approve` is false: never log it. */
  readonly link: string;
  /** What the run was asked to do; its beginning. */
  readonly task: string;
  readonly agent: string;
  /** ms since 1970: asked at, and the first of the approvals expires at. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly approvals: readonly {
    readonly approvalId: string;
    readonly kind: 'tool' | 'node' | 'question';
    readonly tool: string;
    /** The rule that asked. */
    readonly reason: string;
    readonly arguments: string;
  }[];
}

/** Tells people. */
export interface Notices {
  /** Rejects when a channel failed, after all have been tried. Sent again it may reach people twice. */
  send(notice: Notice): Promise<void>;
}
