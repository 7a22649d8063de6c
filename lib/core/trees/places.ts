import type { Place } from './node.ts';
import type { TreeNode } from './nodes/index.ts';

export interface Tree {
  readonly root: TreeNode;
}

const known = new WeakMap<Tree, Place>();

/** The tree's nodes with their paths; the same object for the same tree. */
export function rootPlace(tree: Tree): Place {
  const place = known.get(tree) ?? placeOf(tree.root, segmentOf(tree.root, undefined));
  known.set(tree, place);
  return place;
}

/** Every node by its path, in tree order: a node before those below it. */
export function nodePaths(tree: Tree): ReadonlyMap<string, Place> {
  return new Map(placesUnder(rootPlace(tree)).map((place) => [place.path, place]));
}

/** A place and all below it, in tree order. */
export function placesUnder(place: Place): Place[] {
  return [place, ...place.children.flatMap(placesUnder)];
}

/**
 * A node's part of its path: its name, else its type, with its number (from 1) where it is one of several `children`. So
 * a path such as `release/checks/tool-2` stays readable without names.
 */
export function segmentOf(
  { type, name }: { readonly type: string; readonly name?: string | undefined },
  index: number | undefined,
): string {
  return name ?? (index === undefined ? type : `${type}-${index + 1}`);
}

function placeOf(node: TreeNode, path: string): Place {
  const below = 'children' in node ? node.children : 'child' in node ? [node.child] : [];
  const numbered = 'children' in node;
  return { path, node, children: below.map((child, index) => placeOf(child, `${path}/${segmentOf(child, numbered ? index : undefined)}`)) };
}
