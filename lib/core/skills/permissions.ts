import { faultsOf, inWords } from '../faults.ts';
import { type Permissions, permissionsSchema } from '../hands/define-tool.ts';
import { checkPermissions } from '../hands/permissions.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { kindOf } from './name.ts';
import type { FieldPath, Notes } from './notes.ts';

const PATH = ['permissions'];
/** As SKILL.md may also spell them (seed 004 section 1.3). */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['allowed_domains', 'allowedDomains'],
  ['allowed_ports', 'allowedPorts'],
  ['allowed_commands', 'allowedCommands'],
]);

export interface PermissionRules {
  /** The app's `security`: nothing may be wider. */
  readonly security: Permissions;
  /** Named in `skills.trusted`: may have network and files together, and every host. */
  readonly trusted: boolean;
}

/**
 * What a handler skill may touch, checked against `security` (design 6.1 and 7). Wider, malformed or both network and files
 * without the operator's trust: problems are noted. Undefined then.
 */
export function readPermissions(value: Json | undefined, rules: PermissionRules, notes: Notes): Permissions | undefined {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) {
    notes.problem(PATH, `must be a map of filesystem and network, not ${kindOf(value)}; there is no short form for everything`);
    return undefined;
  }
  const parsed = permissionsSchema.safeParse(respelled(value), { error: inWords });
  if (!parsed.success) {
    for (const { path, message, unknownKey } of faultsOf(parsed.error.issues))
      notes.problem([...PATH, ...path], unknownKey ? 'there is no such permission' : message);
    return undefined;
  }
  const before = notes.problems.length;
  checkFiles(parsed.data, notes);
  checkNetwork(parsed.data, rules, notes);
  if (notes.problems.length === before)
    for (const denied of checkPermissions(parsed.data, rules.security))
      notes.problem([...PATH, ...pathOfDenial(denied)], `is more than the "security" of this deployment allows: ${denied}`);
  return notes.problems.length === before ? parsed.data : undefined;
}

/** Whether it asks for the session's files, and for the network. */
export function wantsOf({ filesystem, network }: Permissions): {
  readonly read: boolean;
  readonly write: boolean;
  readonly network: boolean;
} {
  const some = (list: readonly unknown[] | undefined): boolean => (list?.length ?? 0) > 0;
  return { read: some(filesystem?.read), write: some(filesystem?.write), network: some(network?.allowedDomains) };
}

function respelled(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([group, content]): [string, Json] => {
    if (!isJsonObject(content)) return [group, content];
    return [group, Object.fromEntries(Object.entries(content).map(([key, list]) => [SPELLINGS.get(key) ?? key, list]))];
  });
  return Object.fromEntries(entries);
}

function checkFiles({ filesystem }: Permissions, notes: Notes): void {
  for (const right of ['read', 'write'] as const)
    (filesystem?.[right] ?? []).forEach((pattern, index) => {
      const path: FieldPath = [...PATH, 'filesystem', right, index];
      const problem = patternProblem(pattern);
      if (problem !== undefined) notes.problem(path, `"${pattern}" ${problem}`);
      else if (/^(?:\.\/)?\*\*?(?:\/\*\*?)*$/.test(pattern))
        notes.warn(path, `"${pattern}" is every file of the session; name what it needs`);
    });
}

/** Patterns are globs below the session's workspace and nothing else. */
function patternProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'is blank';
  if (/^[/\\]|^[A-Za-z]:/.test(pattern)) return 'is an absolute path; files are those of the session, named from its workspace';
  if (pattern.startsWith('~')) return 'is a home directory; files are those of the session, named from its workspace';
  if (pattern.startsWith('!')) return 'says what not to touch, which is everything else; say what it needs';
  if (pattern.split(/[/\\]/).includes('..')) return 'leaves the workspace';
  return /[\\\p{Cc}]|\$\{|\$\(|%[0-9a-f]{2}/iu.test(pattern) ? 'has characters that no file pattern has' : undefined;
}

function checkNetwork(permissions: Permissions, { trusted }: PermissionRules, notes: Notes): void {
  const { filesystem, network, execution } = permissions;
  (network?.allowedDomains ?? []).forEach((domain, index) => {
    const path: FieldPath = [...PATH, 'network', 'allowedDomains', index];
    const problem = domainProblem(domain, trusted);
    if (problem !== undefined) notes.problem(path, `"${domain}" ${problem}`);
    else if (domain === '*') notes.warn(path, 'every host of the internet');
  });
  (network?.allowedPorts ?? []).forEach((port, index) => {
    if (port < 1 || port > 65_535) notes.problem([...PATH, 'network', 'allowedPorts', index], `${port} is not a port`);
  });
  const wants = wantsOf(permissions);
  if (wants.network && (wants.read || wants.write) && !trusted)
    notes.problem(
      [...PATH, filesystem ? 'filesystem' : 'network'],
      'asks for the network and for files, so that it could carry them out; split it, or name it in "skills.trusted" of the configuration',
    );
  if ((execution?.allowedCommands?.length ?? 0) > 0)
    notes.problem([...PATH, 'execution'], 'a handler runs no commands; let the agent use execute_shell, or do it in the handler itself');
}

const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i;
const INTERNAL = /(?:^|\.)(?:localhost|local|internal|intranet|lan|localdomain)$|\.home\.arpa$/i;

function domainProblem(domain: string, trusted: boolean): string | undefined {
  const needsTrust = 'is every host there is, or nearly; name the hosts, or name the skill in "skills.trusted" of the configuration';
  if (domain === '*') return trusted ? undefined : needsTrust;
  if (INTERNAL.test(domain)) return 'is of a private network, which is never reached';
  if (/^\*\.[a-z0-9-]+$/i.test(domain)) return trusted ? undefined : needsTrust;
  return HOST.test(domain) ? undefined : 'is not a host name such as docs.example.com or *.example.com (no scheme, port, path or address)';
}

/** `filesystem.read: "x"` → where it stands. */
function pathOfDenial(denied: string): string[] {
  return denied.slice(0, denied.indexOf(':')).split('.');
}
