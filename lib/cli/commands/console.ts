import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { localAuth } from '../../api/auth/local.ts';
import { serve } from '../../api/node-server.ts';
import type { Handler } from '../command.ts';
import { consoleProxy } from '../console-proxy.ts';
import { credentialFor } from '../credential.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions, usageError } from '../failure.ts';
import { interruptible } from '../interrupt.ts';
import { screenLogger } from '../log.ts';
import { printJson } from '../print-json.ts';
import { createScreen, type Screen } from '../screen.ts';
import { senderTo } from '../sender.ts';

const optionsSchema = z.object({ url: z.url().optional(), json: z.boolean().default(false) });

/** `handrail console`: the console of a deployment on 127.0.0.1, until Ctrl-C. Its requests go out as ours. */
export const openConsole: Handler = (command, _args, raw) => {
  const { url, json } = parseOptions(optionsSchema, raw);
  const { context, environment, screen } = command;
  return interruptible(context, async (signal) => {
    const address = (url ?? environment.HANDRAIL_URL)?.replace(/\/+$/, '');
    if (address === undefined) throw usageError('--url or HANDRAIL_URL names the deployment; a laptop has its console by "handrail serve"');
    const send = senderTo(address, await credentialFor(address, environment));
    let port = 0;
    // Told to nobody: the link that is printed is the only way in.
    const secret = randomBytes(32).toString('base64url');
    const auth = localAuth({ secret, port: () => port, approvalPages: false });
    const logger = screenLogger(screen, environment.HANDRAIL_LOG ?? 'warn');
    const server = await serve(consoleProxy({ auth, send, logger }), { port: 0 });
    port = server.port;
    const link = `${server.url}/?key=${auth.ticket()}`;
    try {
      if (json) printJson(context, { url: server.url, link, server: address });
      else announce(createScreen(context.stdout, context.env), address, link);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    } finally {
      await server.close();
    }
    return EXIT.ok;
  });
};

/** On stdout: it is what the command is for. */
function announce(screen: Screen, address: string, link: string): void {
  const { bold, cyan, dim } = screen.style;
  screen.line(`${bold('Console')} of ${address}`);
  screen.line(`  Open     ${cyan(link)}  ${dim('(signs one browser in, once)')}`);
  screen.line(dim('  What you do there is done with your credentials. Ctrl-C stops.'));
}
