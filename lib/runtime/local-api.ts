import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmbeddedEngine } from '../adapters/engine/embedded.ts';
import { workspaceSessionFiles } from '../adapters/session-files/workspace.ts';
import type { ApiServices } from '../api/services.ts';
import { HandrailError } from '../core/errors.ts';
import { cancelRun } from '../core/loop/cancel.ts';
import type { LoopDeps } from '../core/loop/deps.ts';
import { newSessionId } from '../core/loop/start.ts';
import type { LinkStore } from '../core/ports/link-store.ts';
import type { Workspaces } from '../core/ports/workspace.ts';
import { apiServices } from './api-services.ts';
import { DEMO_DIRECTORY } from './local-model.ts';

/** Whoever has the laptop is the tenant and the operator. */
export const LOCAL_TENANT = 'local';

/** The API's use cases on a laptop. `demo`: each session gets the file that the scripted demo works on. */
export function localApiServices(
  deps: LoopDeps & { readonly engine: Pick<EmbeddedEngine, 'abortRun'> },
  links: LinkStore,
  workspaces: Workspaces,
  demo: boolean,
): ApiServices {
  const services = apiServices(deps, {
    links,
    files: workspaceSessionFiles(workspaces),
    operatorTenant: LOCAL_TENANT,
    // On a laptop there is nobody else who would look.
    nonTtyPending: false,
    // Requests are answered beside each other here, so no line can be said to be of one.
    about: () => undefined,
    audit: (entry) => deps.logger.info('audit', { ...entry }),
  });
  return {
    ...services,
    startRun: async (request) => {
      // Before the execution can ask for the file: a session's id may follow from the idempotency key.
      const sessionId = request.sessionId ?? newSessionId(deps, request);
      if (demo) await layOutDemo(workspaces, request.tenant, sessionId);
      return services.startRun(request.idempotencyKey === undefined ? { ...request, sessionId } : request);
    },
    cancelRun: (request) => cancelRun({ ...deps, abortRun: (runId) => deps.engine.abortRun(runId) }, request, request.principal),
  };
}

/** What the demo works on; left alone where a session has it. */
const DEMO_FILES = ['sales.csv', 'CHANGELOG.md'];

async function layOutDemo(workspaces: Workspaces, tenant: string, sessionId: string): Promise<void> {
  const workspace = await workspaces.open({ tenant, sessionId });
  const present = (await workspace.list('.', { depth: 1, limit: 100 })).map(({ path }) => path);
  for (const name of DEMO_FILES.filter((file) => !present.includes(file))) {
    try {
      await workspace.write(name, await readFile(join(DEMO_DIRECTORY, name)), 'create');
    } catch (error) {
      // The same request, sent twice at once, has put it there meanwhile.
      if (!(error instanceof HandrailError && error.code === 'INVALID_ARGUMENTS')) throw error;
    }
  }
}
