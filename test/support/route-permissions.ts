import { permissions } from '../../lib/api/principal.ts';
import type { Operation } from '../../lib/api/route.ts';
import { routes } from '../../lib/api/routes.ts';
import { matches } from './gateway.ts';

/** A permission of the API, and what it is under IAM: resources of `execute-api:Invoke`, after the stage. */
export interface RoutePermission {
  readonly permission: string;
  readonly resources: readonly string[];
}

/** Method and path as IAM has them; `*` for each value in the path. */
export const resourceOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string =>
  `${method.toUpperCase()}${path.replaceAll(/\{\w+\}/g, '*')}`;

/** From the routes' own `access`. A resource that a wider one of the same permission covers is left out. */
export function routePermissions(): RoutePermission[] {
  return [...permissions, 'signed-in'].map((permission) => {
    const all = routes.filter(({ access }) => access === permission).map(resourceOf);
    const resources = all.filter((one) => !all.some((wider) => wider !== one && matches(wider, one)));
    return { permission, resources: [...new Set(resources)] };
  });
}

/** As a table in Markdown. */
export function permissionsAsMarkdown(table: readonly RoutePermission[]): string {
  const rows = table.map(({ permission, resources }) => {
    const [name, scope] = permission === 'signed-in' ? ['(any caller)', '-'] : [`\`${permission}\``, `\`handrail/${permission}\``];
    return `| ${name} | ${scope} | ${resources.map((resource) => `\`${resource}\``).join(' ')} |`;
  });
  return ['| permission | scope of a token | resources of a role |', '| --- | --- | --- |', ...rows].join('\n');
}
