import { cleanText } from '../hands/text.ts';
import type { Place } from './node.ts';
import { composites, definitionOf } from './nodes/index.ts';
import { rootPlace, type Tree } from './places.ts';
import type { TreeState } from './state.ts';
import { look } from './walk.ts';

/** `dropped`: begun, but what it stands under was decided without it. `idle`: not reached. */
export type NodeStatus = 'success' | 'failure' | 'running' | 'dropped' | 'idle';

const MARKS: Readonly<Record<NodeStatus, string>> = { success: '✓', failure: '✗', running: '…', dropped: '–', idle: '·' };
const COLOURS: Readonly<Record<NodeStatus, string>> = {
  success: 'fill:#d8f3dc,stroke:#2d6a4f,color:#081c15',
  failure: 'fill:#ffdad6,stroke:#93000a,color:#410002',
  running: 'fill:#fff3bf,stroke:#8a6d00,color:#2b2200',
  dropped: 'fill:#eeeeee,stroke:#888888,color:#444444,stroke-dasharray:4',
  idle: 'fill:#ffffff,stroke:#888888,color:#222222',
};
/** A drawing is for people: what a node says about itself is cut after this. */
const LABEL_CHARACTERS = 100;

/** What each node of a tree has come to, by path, as a run's committed state tells it. */
export function nodeStatuses(tree: Tree, state: TreeState): ReadonlyMap<string, NodeStatus> {
  const root = rootPlace(tree);
  const verdicts = look(root, state);
  const statuses = new Map<string, NodeStatus>();
  const fill = (place: Place, open: boolean): void => {
    const status = verdicts.get(place.path)?.status ?? 'idle';
    statuses.set(place.path, status === 'running' && !open ? 'dropped' : status);
    for (const child of place.children) fill(child, open && status === 'running');
  };
  fill(root, true);
  return statuses;
}

/** The tree as lines of text; with a run's state, each node with its mark: ✓ succeeded, ✗ failed, … running, – dropped, · not reached. */
export function drawText(tree: Tree, state?: TreeState): string {
  const statuses = state && nodeStatuses(tree, state);
  const lines: string[] = [];
  const draw = (place: Place, first: string, rest: string): void => {
    const status = statuses?.get(place.path);
    lines.push(`${first}${status === undefined ? '' : `${MARKS[status]} `}${titleOf(place)}`);
    for (const [index, child] of place.children.entries()) {
      const last = index === place.children.length - 1;
      draw(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
    }
  };
  draw(rootPlace(tree), '', '');
  return `${lines.join('\n')}\n`;
}

/** The tree as a Mermaid flowchart; with a run's state, each node coloured by its status and marked as in `drawText`. */
export function drawMermaid(tree: Tree, state?: TreeState): string {
  const statuses = state && nodeStatuses(tree, state);
  const lines = ['flowchart TD'];
  const used = new Set<NodeStatus>();
  let count = 0;
  const draw = (place: Place, parent: string | undefined): void => {
    count += 1;
    const id = `n${count}`;
    const status = statuses?.get(place.path);
    if (status) used.add(status);
    const [open, close] = shapeOf(place);
    const mark = status === undefined ? '' : `${MARKS[status]} `;
    lines.push(`  ${id}${open}"${escapeMermaid(mark + titleOf(place))}"${close}${status === undefined ? '' : `:::${status}`}`);
    if (parent !== undefined) lines.push(`  ${parent} --> ${id}`);
    for (const child of place.children) draw(child, id);
  };
  draw(rootPlace(tree), undefined);
  for (const status of used) lines.push(`  classDef ${status} ${COLOURS[status]}`);
  return `${lines.join('\n')}\n`;
}

/** `sequence release: in order`, on one line whatever the tree's author wrote. */
function titleOf({ node }: Place<{ readonly type: string; readonly name?: string }>): string {
  const label = cleanText(definitionOf(node.type)?.label(node) ?? '').replace(/\s+/g, ' ');
  const cut = label.length <= LABEL_CHARACTERS ? label : `${label.slice(0, LABEL_CHARACTERS - 1).toWellFormed()}…`;
  return `${node.type}${node.name === undefined ? '' : ` ${node.name}`}: ${cut}`;
}

/** Leaves are boxes, decorators are rounded, composites are hexagons. */
function shapeOf({ node: { type }, children }: Place): readonly [string, string] {
  if (children.length === 0) return ['[', ']'];
  return composites.some((composite) => composite.type === type) ? ['{{', '}}'] : ['(', ')'];
}

/** In quoted text Mermaid reads entity codes, HTML, and Markdown after a backtick. */
function escapeMermaid(text: string): string {
  return text.replace(/[&<>"#`;\\]/g, (character) => `#${character.codePointAt(0)};`);
}
