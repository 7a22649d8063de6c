import { type Document, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml';
import { HandrailError } from '../../core/errors.ts';
import { TREE } from '../../core/limits.ts';
import { type KnownNames, parseTree, type Tree } from '../../core/trees/tree.ts';

/** Brackets in one another. A tree of 64 nodes needs two for each. */
const FLOW_DEPTH = 4 * TREE.depth;

/**
 * The tree in the text of a tree.yaml (design section 8). `file` is its name in messages. Throws BAD_REQUEST with a line per
 * problem, `<file>:<line>: <field>: <what is wrong, what is expected>`. YAML 1.2 core: no tags, no aliases, no merge keys, no
 * duplicate keys.
 */
export function readTree(text: string, file: string, names: KnownNames = {}): Tree {
  if (text.length > TREE.fileCharacters) throw failure(file, 1, `longer than ${TREE.fileCharacters} characters`);
  refuseDeepBrackets(text, file);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    strict: true,
    prettyErrors: false,
  });
  const [complaint] = [...document.errors, ...document.warnings];
  if (complaint) throw failure(file, lines.linePos(complaint.pos[0]).line, complaint.message.split('\n', 1)[0] ?? 'not YAML');
  return parseTree(toPlain(document, file), file, (path) => lines.linePos(offsetOf(document, path)).line, names);
}

/** The parser calls itself for each bracket, and takes long to notice that it cannot. */
function refuseDeepBrackets(text: string, file: string): void {
  let depth = 0;
  let line = 1;
  for (const token of new Lexer().lex(text)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === '\n') line += 1;
    if (depth > FLOW_DEPTH) throw failure(file, line, `brackets nested deeper than ${FLOW_DEPTH} levels`);
  }
}

/** Aliases are refused: with them a small file can become a large tree, or one that holds itself. */
function toPlain(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw failure(
      file,
      1,
      `aliases are not allowed: write the node out where it is needed (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

/** Where the value at `path` stands: its key, its item, or the deepest part of the path that is there. */
function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
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

function failure(file: string, line: number, message: string): HandrailError {
  return new HandrailError('BAD_REQUEST', `${file}:${line}: ${message}`, { extra: { line } });
}
