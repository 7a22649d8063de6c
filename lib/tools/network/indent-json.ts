/** Deeper or longer text is given back as it is: indenting it would take more room than it is worth. */
const MAX_DEPTH = 64;
const MAX_CHARACTERS = 1_000_000;

/**
 * JSON text with two-space indent, token by token, so that nothing in it changes: numbers keep their digits (identifiers are
 * often beyond what a float can hold), keys their order and repetitions. `text` must be valid JSON.
 */
export function indentJson(text: string): string {
  if (text.length > MAX_CHARACTERS) return text;
  const parts: string[] = [];
  let depth = 0;
  let before = '';
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const empty = before === '{' || before === '[';
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if (closes ? !empty : empty || before === ',') parts.push(`\n${'  '.repeat(depth)}`);
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth++;
    if (depth > MAX_DEPTH) return text;
    before = token;
  }
  return parts.join('');
}
