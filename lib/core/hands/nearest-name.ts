/** Longest name that is compared; longer ones are cut. */
const COMPARED = 80;

/** The candidate that `name` most likely meant, or undefined when none is near: a suggestion for a reader, never acted on. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = plainName(name);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plainName(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return bestDistance <= Math.max(2, Math.floor(wanted.length / 3)) && bestDistance < wanted.length ? best : undefined;
}

/** How many of the names there are are told to whoever wrote one that there is not. */
const SHOWN = 20;

/** `there is no <what> "<name>"`, and which one was meant, or which there are. `aliases` may be meant, and are not listed. */
export function unknownName(what: string, name: string, known: readonly string[], aliases: readonly string[] = []): string {
  const nearest = nearestName(name, [...known, ...aliases]);
  const list = [...known.slice(0, SHOWN), ...(known.length > SHOWN ? ['…'] : [])].join(', ');
  const expected = nearest === undefined ? `expected one of ${list || 'none: there are none'}` : `did you mean "${nearest}"?`;
  return `there is no ${what} ${JSON.stringify(name.slice(0, COMPARED))}; ${expected}`;
}

/** Without a namespace in front, in one spelling: `functions.Read-File ` → `read_file`. */
function plainName(name: string): string {
  const short = name.slice(0, COMPARED).trim().replace(/\(\)$/, '');
  return short
    .slice(short.search(/[^.:/]*$/))
    .replace(/[-\s]+/g, '_')
    .toLowerCase();
}

/** Insertions, deletions and replacements between two texts. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
    }
  }
  return row[b.length] ?? 0;
}
