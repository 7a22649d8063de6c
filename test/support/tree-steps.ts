import type { Json } from '../../lib/core/json.ts';
import type { ApprovalPhase } from '../../lib/core/trees/node.ts';
import type { TreeState } from '../../lib/core/trees/state.ts';
import { complete, decideApproval, type Next, tick } from '../../lib/core/trees/tick.ts';
import { parseTree, type Tree } from '../../lib/core/trees/tree.ts';

/** A tree taken step by step, for tests that look at one thing. */
export class TreeSteps {
  readonly tree: Tree;
  state: TreeState = {};
  blackboard: Record<string, Json>;
  warnings: readonly { readonly path: string; readonly message: string }[] = [];
  now = 1_000_000;
  activeMs = 0;

  constructor(root: object, blackboard: Record<string, Json> = {}) {
    this.tree = parseTree({ root }, 'tree.yaml', () => undefined);
    this.blackboard = blackboard;
  }

  next(): Next {
    const ticked = tick({ tree: this.tree, state: this.state, blackboard: this.blackboard, now: this.now, activeMs: this.activeMs });
    this.state = ticked.state;
    this.blackboard = ticked.blackboard;
    this.warnings = ticked.warnings;
    return ticked.next;
  }

  succeed(path: string, value?: Json): this {
    const { state, outputKey } = complete(this.tree, this.state, path, { status: 'success', ...(value === undefined ? {} : { value }) });
    this.state = state;
    if (outputKey !== undefined && value !== undefined) this.blackboard = { ...this.blackboard, [outputKey]: value };
    return this;
  }

  fail(path: string, error = 'no luck'): this {
    this.state = complete(this.tree, this.state, path, { status: 'failure', error }).state;
    return this;
  }

  decide(path: string, phase: ApprovalPhase, decision: 'approved' | 'rejected'): this {
    this.state = decideApproval(this.tree, this.state, path, phase, decision);
    return this;
  }

  pass(ms: number): this {
    this.now += ms;
    this.activeMs += ms;
    return this;
  }
}

/** A tool node with a name. */
export const toolNode = (name: string, more: object = {}): object => ({ type: 'tool', name, tool: 'read_file', ...more });

/** Paths of the tools that are ready; empty when something else is. */
export const toolPaths = (next: Next): string[] => (next.kind === 'tools' ? next.calls.map(({ path }) => path) : []);
