/**
 * What a caller may be allowed (design 5.3): start and cancel runs, look, decide approvals, change policy, delete. Whoever may
 * start a run may not thereby erase the record of it.
 */
export const permissions = ['run', 'read', 'approve', 'policy', 'delete'] as const;
export type Permission = (typeof permissions)[number];

/** An authenticated caller. `tenant` matches the tenant rule of design section 9. */
export interface Principal {
  readonly tenant: string;
  /** Who it is, as the audit shows it: an ARN, `jwt:<sub>`, `local:owner`. */
  readonly principal: string;
  readonly permissions: ReadonlySet<Permission>;
}

export const everyPermission: ReadonlySet<Permission> = new Set(permissions);
