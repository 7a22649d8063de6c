import * as z from 'zod';
import { codes, HandrailError, unreachable } from '../../core/errors.ts';
import { sessionIdSchema, tenantSchema } from '../../core/ids.ts';
import type { SessionFiles } from '../../core/ports/session-files.ts';

const PATH_CHARACTERS = 4_096;
const session = { tenant: tenantSchema, sessionId: sessionIdSchema };
const path = z.string().max(PATH_CHARACTERS);

/**
 * What the api function asks the file function for. No call of an agent looks like this: an item of the Act map is built
 * by `reason` from a fixed shape, in which arguments are one field.
 */
export const fileOperationSchema = z.strictObject({
  fileOperation: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('read'), ...session, path }),
    z.strictObject({ kind: z.literal('write'), ...session, path, data: z.base64() }),
    z.strictObject({ kind: z.literal('list'), ...session, path, depth: z.int().min(1).max(20), limit: z.int().min(1).max(2_000) }),
    z.strictObject({ kind: z.literal('erase'), ...session }),
  ]),
});
export type FileOperation = z.infer<typeof fileOperationSchema>['fileOperation'];

const entrySchema = z.object({
  path: z.string(),
  kind: z.enum(['file', 'directory', 'other']),
  bytes: z.number(),
  modifiedAt: z.number(),
});

/** What the file function answers. A refusal travels as data: Lambda keeps only names and messages of errors. */
export const fileAnswerSchema = z.union([
  z.object({ data: z.base64() }),
  z.object({ written: z.object({ bytes: z.number(), created: z.boolean() }) }),
  z.object({ entries: z.array(entrySchema) }),
  z.object({ erased: z.boolean() }),
  z.object({ refused: z.object({ code: z.enum(codes), message: z.string(), suggestions: z.array(z.string()) }) }),
]);
export type FileAnswer = z.infer<typeof fileAnswerSchema>;

/** True of an event that is meant for `carryOut`, whether or not it is well formed. */
export const isFileOperation = (event: unknown): boolean => typeof event === 'object' && event !== null && 'fileOperation' in event;

/** Carries out an operation inside the file function. */
export async function carryOut(files: SessionFiles, event: unknown): Promise<FileAnswer> {
  const parsed = fileOperationSchema.safeParse(event);
  if (!parsed.success)
    return {
      refused: { code: 'INVALID_ARGUMENTS', message: `not a file operation: ${parsed.error.message.slice(0, 500)}`, suggestions: [] },
    };
  try {
    return await perform(files, parsed.data.fileOperation);
  } catch (error) {
    if (!(error instanceof HandrailError)) throw error;
    return { refused: { code: error.code, message: error.message, suggestions: [...error.suggestions] } };
  }
}

async function perform(files: SessionFiles, operation: FileOperation): Promise<FileAnswer> {
  const { tenant, sessionId } = operation;
  const key = { tenant, sessionId };
  switch (operation.kind) {
    case 'read':
      return { data: Buffer.from(await files.read(key, operation.path)).toString('base64') };
    case 'write':
      return { written: await files.write(key, operation.path, Buffer.from(operation.data, 'base64')) };
    case 'list': {
      const { depth, limit } = operation;
      return { entries: [...(await files.list(key, operation.path, { depth, limit }))] };
    }
    case 'erase':
      return { erased: await files.erase(key) };
    default:
      return unreachable(operation);
  }
}
