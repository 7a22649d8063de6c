import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { JSON_DEPTH, SKILL } from '../../core/limits.ts';
import type { FieldPath, FrontMatter } from '../../core/skills/notes.ts';
import { quoteColons } from './quote-colons.ts';
import { refusal } from './refusal.ts';

interface ReadYaml {
  readonly frontMatter: FrontMatter;
  readonly warnings: readonly { readonly line: number; readonly reason: string }[];
}

/** Keys that reach what all objects have in common, in readers that merge. */
const SPECIAL = ['__proto__', 'constructor', 'prototype'];

/**
 * Front matter as JSON: YAML 1.2, core schema, without aliases, tags, merge keys and duplicates, few keys, not deep. Text with
 * an unquoted `: ` is read as text, with a warning. `firstLine`: where it begins in its file. Throws as `splitSkill` does.
 */
export function readYaml(text: string, firstLine: number): ReadYaml {
  const plain = attempt(text, firstLine);
  if (!('failure' in plain) && !isJsonObject(plain.frontMatter.data['description'])) return plain;
  const { text: quoted, lines } = quoteColons(text);
  const again = lines.length > 0 ? attempt(quoted, firstLine) : plain;
  if ('failure' in again) {
    // Lines are the same, and a colon is not what stands in the way.
    if ('failure' in plain) throw again.failure;
    return plain;
  }
  const warned = lines.map((line) => ({
    line: line + firstLine,
    reason: 'an unquoted ": " ; the value is read as text, put quotes around it',
  }));
  return { frontMatter: again.frontMatter, warnings: [...warned, ...again.warnings] };
}

function attempt(text: string, firstLine: number): ReadYaml | { readonly failure: unknown } {
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line + firstLine - 1;
  try {
    // Keys are compared here below, in linear time; the parser takes seconds for thousands.
    const document = parseDocument(text, {
      lineCounter: counter,
      schema: 'core',
      version: '1.2',
      merge: false,
      uniqueKeys: false,
      strict: true,
    });
    const [complaint] = [...document.errors, ...document.warnings];
    if (complaint) return { failure: refusal(lineAt(complaint.pos[0]), firstSentence(complaint.message)) };
    const reader = new Reader(lineAt);
    const data = reader.read(document.contents, [], 0);
    if (!isJsonObject(data)) return { failure: refusal(firstLine, 'the front matter is not a map of keys and values') };
    return { frontMatter: { data, lineOf: (path) => reader.lineOf(path, firstLine) }, warnings: cutByComment(document, lineAt) };
  } catch (failure) {
    // Deep nesting ends the parser's stack.
    return { failure: failure instanceof RangeError ? refusal(firstLine, 'the front matter is nested too deeply') : failure };
  }
}

/** Nodes to JSON, remembering lines. */
class Reader {
  readonly #lines = new Map<string, number>();
  readonly #lineAt: (offset: number) => number;
  #keys = 0;

  constructor(lineAt: (offset: number) => number) {
    this.#lineAt = lineAt;
  }

  lineOf(path: FieldPath, fallback: number): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(JSON.stringify(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return fallback;
  }

  read(node: unknown, path: FieldPath, depth: number): Json {
    const line = this.#note(node, path);
    if (depth > JSON_DEPTH) throw refusal(line, 'the front matter is nested too deeply');
    if (node === null || node === undefined) return null;
    if (isAlias(node)) throw refusal(line, `aliases are not read: *${node.source.slice(0, 40)}`);
    if (isMap(node)) return this.#map(node, path, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index], depth + 1));
    if (!isScalar(node)) throw refusal(line, 'there is something here that is no value');
    return scalar(node.value, line);
  }

  #map(
    node: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] },
    path: FieldPath,
    depth: number,
  ): JsonObject {
    const entries = new Map<string, Json>();
    for (const { key, value } of node.items) {
      const line = this.#lineOfNode(key);
      if (!isScalar(key) || typeof key.value !== 'string') throw refusal(line, 'a key is not text; put quotes around it');
      const name = key.value;
      if (SPECIAL.includes(name)) throw refusal(line, `the key "${name}" is never read`);
      if (entries.has(name)) throw refusal(line, `the key "${name.slice(0, 40)}" is there twice`);
      if (++this.#keys > SKILL.frontMatterKeys) throw refusal(line, `there are more than ${SKILL.frontMatterKeys} keys`);
      const at = [...path, name];
      this.#lines.set(JSON.stringify(at), line);
      entries.set(name, this.read(value, at, depth + 1));
    }
    return Object.fromEntries(entries);
  }

  #note(node: unknown, path: FieldPath): number {
    const line = this.#lineOfNode(node);
    const key = JSON.stringify(path);
    if (!this.#lines.has(key)) this.#lines.set(key, line);
    return line;
  }

  #lineOfNode(node: unknown): number {
    const { range } = (node ?? {}) as Partial<Node>;
    return this.#lineAt(range?.[0] ?? 0);
  }
}

function scalar(value: unknown, line: number): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) throw refusal(line, `${value} is not a number that can be used`);
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw refusal(line, 'there is something here that is no text, number, true, false or null');
}

/** ` #` begins a comment, so `Handles C# and issue #12` ends at `issue`. */
function cutByComment(document: Document.Parsed, lineAt: (offset: number) => number): { line: number; reason: string }[] {
  const node: unknown = document.get('description', true);
  if (!isScalar(node) || node.type !== 'PLAIN' || !node.comment) return [];
  return [{ line: lineAt(node.range?.[0] ?? 0), reason: 'description: ends at " #", which begins a comment; put quotes around it' }];
}

function firstSentence(message: string): string {
  return (message.split('\n', 1)[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');
}
