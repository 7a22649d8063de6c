import * as z from 'zod';
import { HandrailError } from '../../../core/errors.ts';
import { type RunKey, runIdSchema, suspensionIdSchema, tenantSchema } from '../../../core/ids.ts';
import type { MemoryScope } from '../../../core/ports/memory-store.ts';
import type { SessionKey } from '../../../core/ports/run-store.ts';

/** Primary key of an item in any of the tables. A type, so that the SDK takes it for a record. */
export type ItemKey = { pk: string; sk: string };

export const RUN = 'RUN';
export const META = 'META';
const SUSPENSION = 'SUS';

export const runPk = ({ tenant, runId }: RunKey): string => `T#${tenant}#R#${runId}`;
export const sessionPk = ({ tenant, sessionId }: SessionKey): string => `T#${tenant}#S#${sessionId}`;
export const runItemKey = (key: RunKey): ItemKey => ({ pk: runPk(key), sk: RUN });
export const sessionItemKey = (key: SessionKey): ItemKey => ({ pk: sessionPk(key), sk: META });
export const suspensionItemKey = (suspensionId: string): ItemKey => ({ pk: `SUS#${suspensionId}`, sk: SUSPENSION });
/** How often a link was tried in vain, in one span of time. */
export const linkTriesItemKey = (suspensionId: string, span: number): ItemKey => ({ pk: `TRIES#${suspensionId}`, sk: `TRIES#${span}` });
export const permitsItemKey: ItemKey = { pk: 'PERMITS', sk: 'PERMITS' };
export const policyItemKey = (tenant: string): ItemKey => ({ pk: `POLICY#${tenant}`, sk: 'POLICY' });
/** A version of a policy that was replaced: `V#<version, 9 digits>`. */
export const keptPolicyItemKey = (tenant: string, version: number): ItemKey => ({
  pk: `POLICY#${tenant}`,
  sk: `${KEPT}${String(version).padStart(9, '0')}`,
});
export const KEPT = 'V#';
export const keptPolicySkSchema = z.string().regex(/^V#\d{9}$/);
export const memoryPk = ({ tenant, namespace, runId }: MemoryScope): string =>
  runId === undefined ? `T#${tenant}#N#${namespace}` : `T#${tenant}#R#${runId}#N#${namespace}`;

/** Orders a tenant's list by creation: `<createdAt, 15 digits>#<id>`. */
export const listKey = (createdAt: number, id: string): string => `${String(Math.floor(createdAt)).padStart(15, '0')}#${id}`;
export const listKeySchema = z.string().regex(/^\d{15}#[^#]+$/);
export const idOfListKey = (key: string): string => key.slice(key.indexOf('#') + 1);

const runPkSchema = z.templateLiteral(['T#', tenantSchema, '#R#', runIdSchema]);
const suspensionPkSchema = z.templateLiteral(['SUS#', suspensionIdSchema]);

/** The run that an index entry of the sessions table belongs to. */
export function runKeyOf(pk: unknown): RunKey {
  const [, tenant, , runId] = runPkSchema.parse(pk).split('#');
  if (tenant === undefined || runId === undefined) throw new HandrailError('INTERNAL', `not the key of a run: ${String(pk)}`);
  return { tenant, runId };
}

/** The suspension that an index entry of the guard table belongs to. */
export const suspensionIdOfPk = (pk: unknown): string => suspensionPkSchema.parse(pk).slice('SUS#'.length);

/** Where a commit's messages stand, read from their key prefix. A frame's name may hold anything, so it is read from the end. */
export function parseMessagePrefix(prefix: string): { frameStart: string; runSeq: number; step: number } {
  const match = /^(MSG#.+#)(\d{6})#(\d{6})#[^#]+#$/.exec(prefix);
  if (!match?.[1]) throw new HandrailError('INTERNAL', `not a prefix of message keys: ${prefix}`);
  return { frameStart: match[1], runSeq: Number(match[2]), step: Number(match[3]) };
}
