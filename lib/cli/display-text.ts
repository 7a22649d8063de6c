import { visible } from '../core/visible.ts';

export { visible };

/** What `visible` gives, on one line, at most `characters` long. */
export function oneLine(text: string, characters: number): string {
  const line = visible(text.slice(0, 4 * characters))
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')
    .trim();
  return line.length <= characters && text.length <= 4 * characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`;
}

/** `340 ms`, `3.2 s`, `4 min`, `2 h`, `3 d`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 129_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** USD with as many digits as small sums need; empty for nothing. */
export function money(usd: number): string {
  return usd === 0 ? '' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** Rows in columns that line up; the last column is as long as it is. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
