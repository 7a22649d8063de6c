/** Deeper text is given back as it is: indenting it would take more room than it is worth. */
const MAX_DEPTH = 64;

/**
 * JSON text with two-space indent, token by token, so that nothing in it changes: numbers keep their digits (identifiers are
 * often beyond what a float can hold), keys their order and repetitions. `text` must be valid JSON.
 */
export function indentJson(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  let before = '';
  const parts: string[] = [];
  for (const token of tokens) {
    const opens = before === '{' || before === '[';
    if (token === '}' || token === ']') depth--;
    else if (opens) depth++;
    if (depth > MAX_DEPTH) return text;
    const closes = (token === '}' || token === ']') && !opens;
    if (token === '}' || token === ']' ? closes : opens || before === ',') parts.push(`\n${'  '.repeat(depth)}`);
    parts.push(token === ':' ? ': ' : token);
    before = token;
  }
  return parts.join('');
}
