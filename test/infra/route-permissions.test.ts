import { describe, expect, it } from 'vitest';
import { routes } from '../../lib/api/routes.ts';
import { matches } from '../support/gateway.ts';
import { routePermissions } from '../support/route-permissions.ts';

/** A path as somebody would send it. */
const requestOf = ({ method, path }: (typeof routes)[number]): string =>
  `${method.toUpperCase()}${path.replace('{path}', 'a/deep/file.txt').replaceAll(/\{\w+\}/g, 'r-1')}`;
const closed = routes.filter(({ access }) => access !== 'public');

describe('what a role may do, by the table of docs/security.md', () => {
  it.each(routePermissions())('$permission is every route that needs it, and no other', ({ permission, resources }) => {
    const reached = closed.filter((route) => resources.some((resource) => matches(resource, requestOf(route))));
    expect(reached.map(({ id }) => id).sort()).toEqual(
      closed
        .filter(({ access }) => access === permission)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('every closed route is of one of them', () => {
    const named = new Set(routePermissions().map(({ permission }) => permission));
    expect(closed.filter(({ access }) => !named.has(access))).toEqual([]);
  });
});
