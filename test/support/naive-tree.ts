import type { Json } from '../../lib/core/json.ts';
import type { TreeNode } from '../../lib/core/trees/tree.ts';
import { type Oracle, PERSON_MS, type TreeHistory } from './tree-oracle.ts';

/**
 * Behaviour trees a second time, without ticks or stored state: each node is a coroutine that stops where it needs the world
 * and goes on when it has the answer. Only for comparison with lib/core/trees; it shares no code with it.
 */
type Work<Kind> = { kind: Kind; path: string; describe(): string; writes?: string | undefined; answer?: boolean };
type Request =
  | Work<'tool'>
  | Work<'llm'>
  | Work<'agent'>
  | { kind: 'approval'; path: string; phase: string; attempt: number; answer?: boolean }
  | { kind: 'wait'; until: number };

/** Undefined = success, else the path where it failed. */
type Running = Generator<Request[], string | undefined, void>;

interface World {
  now: number;
  active: number;
  board: Record<string, Json>;
  /** How often retries have started a node anew, by path. */
  readonly restarts: Map<string, number>;
}

export function runNaively(root: TreeNode, board: Readonly<Record<string, Json>>, oracle: Oracle): TreeHistory {
  const world: World = { now: 0, active: 0, board: { ...board }, restarts: new Map() };
  const log: string[] = [];
  const asked = new Map<string, number>();
  const take = (request: Work<'tool' | 'llm' | 'agent'>): number => {
    const times = (asked.get(request.path) ?? 0) + 1;
    asked.set(request.path, times);
    const { ok, value, ms } = oracle.leaf(request.path, times);
    request.answer = ok;
    if (ok && request.writes !== undefined) world.board = { ...world.board, [request.writes]: value };
    return ms;
  };
  const running = run(root, root.type, false, world);
  for (;;) {
    const step = running.next();
    if (step.done) return { log, status: step.value === undefined ? 'success' : 'failure', failedAt: step.value, blackboard: world.board };
    const pending = step.value;
    const tools = pending.filter((request) => request.kind === 'tool');
    const one = pending.find((request) => request.kind === 'llm') ?? pending.find((request) => request.kind === 'agent');
    const approvals = pending.filter((request) => request.kind === 'approval');
    if (tools.length > 0) {
      log.push(`tools ${tools.map((request) => request.describe()).join(' + ')}`);
      const spent = Math.max(...tools.map((request) => take(request)));
      world.now += spent;
      world.active += spent;
    } else if (one) {
      log.push(`${one.kind} ${one.describe()}`);
      const spent = take(one);
      world.now += spent;
      world.active += spent;
    } else if (approvals.length > 0) {
      log.push(`approvals ${approvals.map(({ path, phase, attempt }) => `${path} ${phase} ${attempt}`).join(' + ')}`);
      for (const request of approvals) request.answer = oracle.approves(request.path, request.phase, request.attempt);
      world.now += PERSON_MS;
    } else {
      const until = Math.min(...pending.flatMap((request) => (request.kind === 'wait' ? [request.until] : [])));
      log.push(`wait ${until - world.now}`);
      world.active += until - world.now;
      world.now = until;
    }
  }
}

function* run(node: TreeNode, path: string, covered: boolean, world: World): Running {
  switch (node.type) {
    case 'sequence':
      for (const [index, child] of node.children.entries()) {
        const failed = yield* run(child, childPath(path, child, index), covered, world);
        if (failed !== undefined) return failed;
      }
      return undefined;
    case 'selector': {
      let failed: string | undefined = path;
      for (const [index, child] of node.children.entries()) {
        failed = yield* run(child, childPath(path, child, index), covered, world);
        if (failed === undefined) return undefined;
      }
      return failed;
    }
    case 'parallel':
      return yield* runTogether(node, path, covered, world);
    case 'retry':
      return yield* runAgain(node, path, covered, world);
    case 'timeout':
      return yield* runInTime(node, path, covered, world);
    case 'inverter': {
      const failed = yield* run(node.child, childPath(path, node.child), covered, world);
      return failed === undefined ? path : undefined;
    }
    case 'approval':
      return yield* runApproved(node, path, covered, world);
    case 'tool': {
      if (!node.execute) return undefined;
      const { input_key: key } = node;
      const describe = () => `${path} ${node.tool} ${JSON.stringify(argumentsAt(key, world))}${covered ? ' covered' : ''}`;
      return yield* ask({ kind: 'tool', path, describe, writes: node.output_key });
    }
    case 'llm':
      return yield* ask({ kind: 'llm', path, describe: () => `${path} ${filled(node.prompt, world)}`, writes: node.output_key });
    case 'agent':
      return yield* ask({ kind: 'agent', path, describe: () => `${path} ${filled(node.task, world)}`, writes: node.output_key });
    case 'set': {
      const { value } = node;
      const whole = typeof value === 'string' ? /^\{\{(\w+)\}\}$/.exec(value)?.[1] : undefined;
      const written = whole === undefined ? (typeof value === 'string' ? filled(value, world) : value) : (world.board[whole] ?? null);
      world.board = { ...world.board, [node.key]: written };
      return undefined;
    }
    case 'condition':
      return holds(node, world) ? undefined : path;
  }
}

function* runTogether(node: Extract<TreeNode, { type: 'parallel' }>, path: string, covered: boolean, world: World): Running {
  const lanes = node.children.map((child, index) => run(child, childPath(path, child, index), covered, world));
  const ended = new Map<number, string | undefined>();
  for (;;) {
    const pending: Request[] = [];
    for (const [index, lane] of lanes.entries()) {
      if (ended.has(index)) continue;
      const step = lane.next();
      if (!step.done) {
        pending.push(...step.value);
        continue;
      }
      ended.set(index, step.value);
      if (node.success === 'all' ? step.value !== undefined : step.value === undefined) return step.value;
    }
    if (ended.size === lanes.length) return node.success === 'all' ? undefined : ended.get(lanes.length - 1);
    yield pending;
  }
}

function* runAgain(node: Extract<TreeNode, { type: 'retry' }>, path: string, covered: boolean, world: World): Running {
  const below = childPath(path, node.child);
  for (let attempt = 1; ; attempt++) {
    const failed = yield* run(node.child, below, covered, world);
    if (failed === undefined || attempt >= node.attempts) return failed;
    countRestart(node.child, below, world);
    const until = world.now + node.delay_s * 1_000;
    while (world.now < until) yield [{ kind: 'wait', until }];
  }
}

function countRestart(node: TreeNode, path: string, world: World): void {
  world.restarts.set(path, (world.restarts.get(path) ?? 0) + 1);
  if ('child' in node) countRestart(node.child, childPath(path, node.child), world);
  if ('children' in node) for (const [index, child] of node.children.entries()) countRestart(child, childPath(path, child, index), world);
}

function* runInTime(node: Extract<TreeNode, { type: 'timeout' }>, path: string, covered: boolean, world: World): Running {
  const end = world.active + node.ms;
  const child = run(node.child, childPath(path, node.child), covered, world);
  for (;;) {
    const step = child.next();
    if (step.done) return step.value;
    if (world.active >= end) return path;
    yield [...step.value, { kind: 'wait', until: world.now + end - world.active }];
  }
}

function* runApproved(node: Extract<TreeNode, { type: 'approval' }>, path: string, covered: boolean, world: World): Running {
  const attempt = 1 + (world.restarts.get(path) ?? 0);
  const refused = node.on_reject === 'success_skip' ? undefined : path;
  if (node.phase !== 'after' && (yield* ask({ kind: 'approval', path, phase: 'before', attempt })) !== undefined) return refused;
  const failed = yield* run(node.child, childPath(path, node.child), covered || node.phase !== 'after', world);
  if (node.phase !== 'before' && (yield* ask({ kind: 'approval', path, phase: 'after', attempt })) !== undefined) return refused;
  return failed;
}

/** Undefined = yes. */
function* ask(request: Exclude<Request, { kind: 'wait' }>): Running {
  while (request.answer === undefined) yield [request];
  return request.answer ? undefined : request.path;
}

function childPath(path: string, { type }: TreeNode, index?: number): string {
  return index === undefined ? `${path}/${type}` : `${path}/${type}-${index + 1}`;
}

function argumentsAt(key: string | undefined, world: World): Json {
  const value = key === undefined ? {} : world.board[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function filled(text: string, world: World): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_all, key: string) => {
    const value = world.board[key];
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  });
}

function holds(node: Extract<TreeNode, { type: 'condition' }>, world: World): boolean {
  const value = world.board[node.key];
  const text = JSON.stringify(value);
  if (node.exists !== undefined) return node.exists ? value !== undefined : value === undefined;
  if (node.equals !== undefined) return text === JSON.stringify(node.equals);
  if (node.not_equals !== undefined) return text !== JSON.stringify(node.not_equals);
  if (node.gt !== undefined) return typeof value === 'number' && value > node.gt;
  if (node.lt !== undefined) return typeof value === 'number' && value < node.lt;
  return (node.in ?? []).some((item) => JSON.stringify(item) === text);
}
