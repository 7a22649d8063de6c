/**
 * Who a principal is, as far as they could not choose it themselves. Whoever assumes a role names the session, and whoever
 * federates a user names that user; the rest of such an ARN is AWS's word. So two sessions of one role are one identity:
 * for self approval that is the safe side, since nobody can tell whether they are two people.
 */
export function identityOf(principal: string): string {
  return /^(arn:[a-z-]+:sts::\d{12}:(?:assumed-role\/[^/]+|federated-user))\//.exec(principal)?.[1] ?? principal;
}
