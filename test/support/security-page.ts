import { accessMatrix, asMarkdown } from './access-matrix.ts';
import { synthesize } from './stacks.ts';

const BEGIN = '<!-- access matrix: written by "npm run docs:security" from the templates -->';
const END = '<!-- end of the access matrix -->';

/** The page with the matrix of the templates as they are now between its two marks. */
export function withMatrix(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error(`docs/security.md has lost its marks ${BEGIN} and ${END}`);
  return `${before}${BEGIN}\n\n${asMarkdown(accessMatrix(synthesize({ target: 'aws' })))}\n\n${END}${after}`;
}
