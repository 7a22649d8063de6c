import type * as z from 'zod';

/** One thing that is wrong with what a person wrote, at the place where they would correct it. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The last part of `path` is a key that there is no such setting for; `message` says no more than that. */
  readonly unknownKey: boolean;
}

/**
 * A schema's issues as a reader can use them. Where one of several shapes was possible, those of the shape that was meant: the
 * one whose outside fits. Where none does, what the schema says of them all.
 */
export function faultsOf(issues: readonly z.core.$ZodIssue[]): Fault[] {
  return issues.flatMap((issue) => faultsIn(issue).map((fault) => ({ ...fault, path: [...issue.path.map(part), ...fault.path] })));
}

function faultsIn(issue: z.core.$ZodIssue): Fault[] {
  const own: Fault = { path: [], message: issue.message, unknownKey: false };
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [key], message: 'there is no such key', unknownKey: true }));
    case 'invalid_key':
      return [{ ...own, message: issue.issues[0]?.message ?? issue.message }];
    case 'invalid_union': {
      const meant = issue.errors.map(faultsOf).find((faults) => faults.length > 0 && faults.every(({ path }) => path.length > 0));
      return meant ?? [own];
    }
    default:
      return [own];
  }
}

const part = (key: PropertyKey): string | number => (typeof key === 'number' ? key : String(key));

const WORDS: Readonly<Record<string, string>> = {
  record: 'a map',
  object: 'a map',
  array: 'a list',
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** Zod's own words where they say nothing to somebody who writes a file; undefined leaves the others as they are. */
export function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_format' && issue.format === 'url') return 'not an address such as https://api.example.com';
  if (issue.code !== 'invalid_type') return undefined;
  const expected = WORDS[issue.expected] ?? issue.expected;
  if (issue.input === undefined) return `is missing: ${expected} is needed`;
  return `expected ${expected}, not ${kindOf(issue.input)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? String(value) : 'a map';
}
