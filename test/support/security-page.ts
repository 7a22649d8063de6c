import { accessMatrix, asMarkdown } from './access-matrix.ts';
import { permissionsAsMarkdown, routePermissions } from './route-permissions.ts';
import { synthesize } from './stacks.ts';

/** docs/security.md with its tables as the templates and the routes are now. */
export function withTables(page: string): string {
  const matrix = between(page, 'access matrix', 'the templates', asMarkdown(accessMatrix(synthesize({ target: 'aws' }))));
  return between(matrix, 'route permissions', 'the routes', permissionsAsMarkdown(routePermissions()));
}

function between(page: string, name: string, source: string, table: string): string {
  const begin = `<!-- ${name}: written by "npm run docs:security" from ${source} -->`;
  const end = `<!-- end of the ${name} -->`;
  const [before, rest] = page.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined) throw new Error(`docs/security.md has lost its marks ${begin} and ${end}`);
  return `${before}${begin}\n\n${table}\n\n${end}${after}`;
}
