import { relative } from 'node:path';
import * as z from 'zod';
import type { Notice } from '../../core/ports/notices.ts';
import type { Command, Handler } from '../command.ts';
import { counted, oneLine } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { parseOptions } from '../failure.ts';
import { interruptible } from '../interrupt.ts';
import { type OwnServer, startOwnServer } from '../own-server.ts';
import { printJson } from '../print-json.ts';
import { createScreen } from '../screen.ts';

const TOOLS_CHARACTERS = 60;
const optionsSchema = z.object({ json: z.boolean().default(false) });

/** `handrail serve`: API and console on 127.0.0.1 until Ctrl-C. */
export const serve: Handler = (command, _args, raw) => {
  const { json } = parseOptions(optionsSchema, raw);
  return interruptible(command.context, async (signal) => {
    const onNotice = (notice: Notice) => tell(command, notice, json);
    const server = await startOwnServer(command, { port: command.environment.HANDRAIL_PORT, resume: true, log: 'warn', onNotice });
    const { runtime } = server;
    try {
      announce(command, server, json);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      command.screen.line('Stopping; press Ctrl-C again to end at once.');
    } finally {
      await runtime.close();
    }
    return EXIT.ok;
  });
};

/** That a decision is wanted, with the link that leads to it: for the person at this terminal, so it is no log line. */
function tell({ context }: Command, notice: Notice, json: boolean): void {
  if (json) {
    printJson(context, { type: 'approval.requested', ...notice });
    return;
  }
  const screen = createScreen(context.stdout, context.env);
  const { bold, cyan, dim } = screen.style;
  const tools = notice.approvals.map(({ kind, tool }) => (kind === 'question' ? 'a question' : tool)).join(', ');
  screen.line(`${bold('Decide')}   ${oneLine(tools, TOOLS_CHARACTERS)}  ${dim(notice.runId)}`);
  screen.line(`         ${cyan(notice.link)}`);
}

/** On stdout: it is what the command is for. */
function announce({ context, environment }: Command, server: OwnServer, json: boolean): void {
  const { runtime, because, demo, configured } = server;
  const link = `${runtime.url}/?key=${runtime.ticket()}`;
  const near = relative(context.cwd, environment.directory);
  const directory = near.startsWith('..') ? environment.directory : near || '.';
  if (json) {
    const facts = {
      url: runtime.url,
      link,
      model: runtime.modelId,
      because,
      demo,
      directory: environment.directory,
      recovered: runtime.recovered,
    };
    printJson(context, facts);
    return;
  }
  const screen = createScreen(context.stdout, context.env);
  const { bold, cyan, dim } = screen.style;
  const lines = [
    `${bold('Handrail')} serves ${runtime.url}`,
    '',
    `  Open     ${cyan(link)}  ${dim('(signs one browser in, once)')}`,
    `  Model    ${runtime.modelId}  ${dim(`(${because})`)}`,
    `  Config   ${configured ? 'handrail.config.yaml' : dim('none in this directory: defaults')}`,
    `  Data     ${directory}  ${dim('(server.json has the secret of the API)')}`,
    ...(runtime.recovered > 0 ? [`  Resumed  ${counted(runtime.recovered, 'run')} of an earlier process`] : []),
    '',
    '  Try      open the page above, or in another terminal:',
    `             npx handrail run "${demo ? 'Add up our sales and write a report' : 'What can you do here?'}"`,
    ...(demo
      ? [
          '',
          dim(
            '  The text of the demo model is scripted, and it adds up sales whatever you ask (or checks a release); its tools, guard and approvals are real.',
          ),
          dim('  For a real model put ANTHROPIC_API_KEY, OPENAI_API_KEY or AWS credentials into .env, or start Ollama; then start again.'),
        ]
      : []),
    '',
    dim('  Ctrl-C stops. Runs go on at the next start.'),
  ];
  for (const line of lines) screen.line(line);
}
