import { HandrailError } from '../../core/errors.ts';
import type { ToolHandler } from '../../core/hands/category.ts';
import { parseArguments } from '../arguments.ts';
import { serviceOf } from '../services.ts';
import { writeFileArguments } from './write-file.definition.ts';

/** Writes one file; the workspace makes it atomic and keeps the quota. */
export const writeFile: ToolHandler = async (args, context, services) => {
  const { path, content, mode, encoding } = parseArguments(writeFileArguments, args);
  const data = encode(content, encoding);
  const workspace = await serviceOf(services, 'workspaces').open(context);
  const { bytes, created } = await workspace.write(path, data, mode);
  return { json: { path, bytes, created } };
};

function encode(content: string, encoding: 'utf-8' | 'base64'): Uint8Array {
  if (encoding === 'utf-8') {
    if (!content.isWellFormed()) throw new HandrailError('INVALID_ARGUMENTS', '`content` holds half a surrogate pair; write it anew.');
    return Buffer.from(content);
  }
  const data = Buffer.from(content, 'base64');
  // Buffer skips what is not base64: what does not come back the same was not.
  if (data.toString('base64') !== content.replace(/\s/g, '')) throw new HandrailError('INVALID_ARGUMENTS', '`content` is not base64.');
  return data;
}
