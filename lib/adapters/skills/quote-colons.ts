/** `key: value` at the left margin, where `value` is neither quoted nor of another form. */
const PLAIN = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[{|>&*!%@`#-].*)$/;
/** `key:` alone: its value stands on the following lines. */
const OPEN = /^(description|compatibility|license):[ \t]*$/;
const OTHER_FORM = /^\s+(?:["'[{|>&*!%@`#]|-\s)/;

/**
 * Puts quotes around unquoted values that hold `: `, which YAML takes for a map: the most common mistake in descriptions.
 * Lines stay where they are. `lines`: the values it quoted, counted from 0.
 */
export function quoteColons(text: string): { readonly text: string; readonly lines: readonly number[] } {
  const source = text.split('\n');
  const quoted: number[] = [];
  for (let first = 0; first < source.length; first++) {
    const line = source[first] ?? '';
    const plain = PLAIN.exec(line);
    const open = OPEN.test(line) && !OTHER_FORM.test(source[first + 1] ?? '');
    if (!plain && !open) continue;
    const last = lastLineOf(source, first);
    const value = [plain?.[2] ?? '', ...source.slice(first + 1, last + 1)];
    if (!value.some((part) => /:(?:[ \t]|$)/.test(part))) continue;
    const escaped = value.map((part) => part.replaceAll("'", "''").trimEnd());
    const start = open ? 1 : 0;
    escaped[start] = `${/^\s*/.exec(escaped[start] ?? '')?.[0] ?? ''}'${(escaped[start] ?? '').trimStart()}`;
    escaped[escaped.length - 1] += "'";
    source[first] = plain ? `${plain[1]}: ${escaped[0]}` : line;
    source.splice(first + 1, last - first, ...escaped.slice(1));
    quoted.push(first);
  }
  return { text: source.join('\n'), lines: quoted };
}

/** The last line that is indented below `first`. */
function lastLineOf(source: readonly string[], first: number): number {
  let last = first;
  while (/^[ \t]+\S/.test(source[last + 1] ?? '')) last++;
  return last;
}
