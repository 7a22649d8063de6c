import type { Permissions } from './define-tool.ts';

const DEFAULT_PORTS: readonly number[] = [80, 443];

/**
 * What a declaration asks for beyond a policy, each as `filesystem.read: "<pattern>"`; empty = all of it is allowed.
 * A part that the policy does not mention allows nothing. When in doubt whether one glob covers another, it does not.
 * Run at registration against the app's `security`, and again at each call (seed 004 sections 1.1 and 3.2, design 6.1).
 */
export function checkPermissions(declared: Permissions, policy: Permissions): string[] {
  const denied: string[] = [];
  const check = <Item extends string | number>(
    field: string,
    items: readonly Item[] | undefined,
    allowed: (item: Item) => boolean,
  ): void => {
    for (const item of items ?? []) if (!allowed(item)) denied.push(`${field}: "${item}"`);
  };
  check('filesystem.read', declared.filesystem?.read, (pattern) => isPathAllowed(pattern, policy.filesystem?.read ?? []));
  check('filesystem.write', declared.filesystem?.write, (pattern) => isPathAllowed(pattern, policy.filesystem?.write ?? []));
  check('network.allowedDomains', declared.network?.allowedDomains, (domain) =>
    isDomainAllowed(domain, policy.network?.allowedDomains ?? []),
  );
  check('network.allowedPorts', portsOf(declared), (port) => (policy.network?.allowedPorts ?? DEFAULT_PORTS).includes(port));
  check('execution.allowedCommands', declared.execution?.allowedCommands, (command) =>
    (policy.execution?.allowedCommands ?? []).some((rule) => rule === '*' || rule === command),
  );
  return denied;
}

/** Ports that a declaration reaches: the ones it names, else 80 and 443 if it names any domain. */
function portsOf({ network }: Permissions): readonly number[] {
  return network?.allowedPorts ?? (network?.allowedDomains?.length ? DEFAULT_PORTS : []);
}

/** A host, or a rule to be compared: `a.com` is that host, `*.a.com` any depth below it, `*` all (design 6.1). */
export function isDomainAllowed(domain: string, rules: readonly string[]): boolean {
  const wanted = normalDomain(domain);
  if (wanted === '') return false;
  return rules.map(normalDomain).some((rule) => {
    if (rule === '*') return true;
    if (rule.startsWith('*.')) return wanted.endsWith(rule.slice(1)) && wanted.length > rule.length - 1;
    return !rule.includes('*') && rule === wanted;
  });
}

function normalDomain(domain: string): string {
  return domain.trim().toLowerCase().replace(/\.$/, '');
}

/** A path, or a glob to be compared, with `**` for any depth, `*` and `?` inside one name. Absolute and relative never match. */
export function isPathAllowed(path: string, patterns: readonly string[]): boolean {
  const wanted = pathSegments(path);
  if (!wanted) return false;
  return patterns.some((pattern) => {
    const rule = pathSegments(pattern);
    return rule !== undefined && rule.absolute === wanted.absolute && coversPath(rule.segments, wanted.segments);
  });
}

function pathSegments(path: string): { absolute: boolean; segments: string[] } | undefined {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (path === '' || path.includes('\\') || path.includes('\0') || segments.includes('..')) return undefined;
  return { absolute: path.startsWith('/'), segments };
}

/** Whether `rule` matches everything that `wanted` matches. Row by row, so that many `**` cost no more than their product. */
function coversPath(rule: readonly string[], wanted: readonly string[]): boolean {
  // covered[j]: the rule's segments up to here cover the first j of `wanted`.
  let covered = Array.from({ length: wanted.length + 1 }, (_, index) => index === 0);
  for (const segment of rule) {
    const before = covered;
    covered = [];
    for (let index = 0; index <= wanted.length; index++) {
      const last = wanted[index - 1];
      if (segment === '**') covered[index] = before[index] === true || covered[index - 1] === true;
      else covered[index] = before[index - 1] === true && last !== undefined && last !== '**' && coversName(segment, last);
    }
  }
  return covered[wanted.length] === true;
}

/** One name of a path: a `*` of `wanted` is only covered by a `*`. */
function coversName(rule: string, wanted: string): boolean {
  let covered = Array.from({ length: wanted.length + 1 }, (_, index) => index === 0);
  for (const character of rule) {
    const before = covered;
    covered = [];
    for (let index = 0; index <= wanted.length; index++) {
      const last = wanted[index - 1];
      if (character === '*') covered[index] = before[index] === true || covered[index - 1] === true;
      else covered[index] = before[index - 1] === true && (last === character || (character === '?' && last !== '*'));
    }
  }
  return covered[wanted.length] === true;
}
