import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { HandrailError } from '../../core/errors.ts';
import type { SessionFiles } from '../../core/ports/session-files.ts';
import { type FileAnswer, type FileOperation, fileAnswerSchema } from './operation.ts';

/** Files of sessions in AWS: only the file function has the workspaces mounted, so it is asked (design section 9). */
export function lambdaSessionFiles(client: LambdaClient, functionName: string): SessionFiles {
  const ask = async (operation: FileOperation): Promise<Exclude<FileAnswer, { refused: unknown }>> => {
    const Payload = Buffer.from(JSON.stringify({ fileOperation: operation }));
    const { Payload: answered, FunctionError } = await client.send(new InvokeCommand({ FunctionName: functionName, Payload }));
    if (FunctionError !== undefined) throw new HandrailError('SERVICE_UNAVAILABLE', 'the file function failed; its log says why');
    const answer = fileAnswerSchema.parse(JSON.parse(Buffer.from(answered ?? []).toString('utf8')));
    if ('refused' in answer) {
      const { code, message, suggestions } = answer.refused;
      throw new HandrailError(code, message, { suggestions });
    }
    return answer;
  };
  return {
    async read({ tenant, sessionId }, path) {
      const answer = await ask({ kind: 'read', tenant, sessionId, path });
      return 'data' in answer ? Buffer.from(answer.data, 'base64') : mixedUp();
    },
    async write({ tenant, sessionId }, path, data) {
      const answer = await ask({ kind: 'write', tenant, sessionId, path, data: Buffer.from(data).toString('base64') });
      return 'written' in answer ? answer.written : mixedUp();
    },
    async list({ tenant, sessionId }, path, options) {
      const answer = await ask({ kind: 'list', tenant, sessionId, path, ...options });
      return 'entries' in answer ? answer.entries : mixedUp();
    },
    async erase({ tenant, sessionId }) {
      const answer = await ask({ kind: 'erase', tenant, sessionId });
      return 'erased' in answer ? answer.erased : mixedUp();
    },
  };
}

function mixedUp(): never {
  throw new HandrailError('INTERNAL', 'the file function answered another operation');
}
