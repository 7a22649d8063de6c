import { HandrailError } from '../core/errors.ts';
import type { ToolServices } from '../core/hands/category.ts';

/** A service that a handler cannot work without. HandrailError INTERNAL when its function was composed without it. */
export function serviceOf<Key extends keyof ToolServices>(services: Partial<ToolServices>, key: Key): ToolServices[Key] {
  const service = services[key];
  if (service === undefined) throw new HandrailError('INTERNAL', `the tool's function was not given "${key}"`);
  return service;
}
