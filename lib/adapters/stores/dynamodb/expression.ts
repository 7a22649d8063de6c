import type { Item } from './codec.ts';

/** Names and values of one request's expressions. Nothing is ever spelled out in an expression: reserved words are many. */
export interface Placeholders {
  /** Placeholder of an attribute's name. */
  name(attribute: string): string;
  /** Placeholder of a value. */
  value(value: unknown): string;
  /** What the request carries; no key for a kind that was not used, since the service refuses empty maps. */
  attributes(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Item };
}

export function placeholders(): Placeholders {
  const names = new Map<string, string>();
  const values: Item = {};
  let count = 0;
  return {
    name(attribute) {
      const known = names.get(attribute);
      if (known !== undefined) return known;
      const placeholder = `#${names.size}`;
      names.set(attribute, placeholder);
      return placeholder;
    },
    value(value) {
      const placeholder = `:${count++}`;
      values[placeholder] = value;
      return placeholder;
    },
    attributes() {
      return {
        ...(names.size > 0
          ? { ExpressionAttributeNames: Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name])) }
          : {}),
        ...(count > 0 ? { ExpressionAttributeValues: values } : {}),
      };
    },
  };
}

/** `SET …` and `REMOVE …` that bring the attributes `keys` to what `item` has: an absent one is removed. */
export function setOrRemove(at: Placeholders, keys: readonly string[], item: Item): string {
  const set = keys.filter((key) => item[key] !== undefined).map((key) => `${at.name(key)}=${at.value(item[key])}`);
  const remove = keys.filter((key) => item[key] === undefined).map((key) => at.name(key));
  return [set.length > 0 ? `SET ${set.join(',')}` : '', remove.length > 0 ? `REMOVE ${remove.join(',')}` : ''].filter(Boolean).join(' ');
}
