import { type Document, isMap, isScalar, isSeq } from 'yaml';

/** Where in its text the value at `path` stands, in characters: its key, its item, or the deepest part of the path that is there. */
export function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
      if (pair === undefined || !isScalar(pair.key)) return offset;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (isScalar(node) || isMap(node) || isSeq(node)) offset = node.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
