/**
 * What a stage sets before anybody says anything: `-c stage=dev`. Each value can be given for itself, with `-c name=value`
 * or under `stages.<stage>` in the context of cdk.json, where stages of one's own are made too.
 */
export interface StageDefaults {
  /** Prefix of every name. */
  readonly name: string;
  readonly logDays: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Keep the data when the stacks go. */
  readonly retain: boolean;
  /** Minutes an approval may wait before the alarm. */
  readonly approvalAgeMinutes: number;
  /** Failed runs within five minutes before the alarm. */
  readonly failedRuns: number;
}

export const STAGES = {
  /** Short-lived: logs go after a week, and deleting the stacks deletes the data. */
  dev: { name: 'handrail-dev', logDays: 7, logLevel: 'debug', retain: false, approvalAgeMinutes: 240, failedRuns: 5 },
  /** Keeps what must be kept, and speaks up early. Without `-c stage` this is the one. */
  prod: { name: 'handrail', logDays: 90, logLevel: 'info', retain: true, approvalAgeMinutes: 720, failedRuns: 1 },
} as const satisfies Record<string, StageDefaults>;

export const DEFAULT_STAGE = 'prod';
/** Stages of one's own start from these. */
export const BASE_STAGE: StageDefaults = STAGES.prod;
