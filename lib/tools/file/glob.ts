/**
 * Holds a path against a glob: `*` and `?` within a name, `**` for any number of directories. A glob without `/` is held
 * against the last name. No braces, no classes, no regular expression: the work is at most glob × path, so that a
 * hostile glob costs nothing.
 */
export function matchesGlob(glob: string, path: string): boolean {
  const names = path.split('/');
  if (!glob.includes('/') && glob !== '**') return matchesName(glob, names.at(-1) ?? '');
  const wanted = glob.split('/').filter((part) => part !== '' && part !== '.');
  return matches(wanted, names, (part) => part === '**', matchesName);
}

function matchesName(glob: string, name: string): boolean {
  return matches(
    Array.from(glob),
    Array.from(name),
    (part) => part === '*',
    (part, character) => part === '?' || part === character,
  );
}

/** Wildcard matching with one point to fall back to: the last wildcard seen, which then takes one item more. */
function matches(
  pattern: readonly string[],
  items: readonly string[],
  isWild: (part: string) => boolean,
  one: (part: string, item: string) => boolean,
): boolean {
  let [at, fallback, resume] = [0, -1, 0];
  for (let index = 0; index < items.length; ) {
    const part = pattern[at];
    if (part !== undefined && isWild(part)) {
      fallback = at++;
      resume = index;
    } else if (part !== undefined && one(part, items[index] ?? '')) {
      at++;
      index++;
    } else if (fallback >= 0) {
      at = fallback + 1;
      index = ++resume;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(isWild);
}
