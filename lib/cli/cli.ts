import { Command as Commander } from 'commander';
import { VERSION } from '../runtime/version.ts';
import type { Command, Handler } from './command.ts';
import { type CliContext, processContext } from './context.ts';
import { loadEnvironment } from './environment.ts';
import { EXIT } from './exit-codes.ts';
import { reportFailure } from './failure.ts';
import { createScreen } from './screen.ts';

const EXIT_CODES = `
Exit codes: 0 completed · 1 failed · 2 wrong usage · 3 stopped at a limit · 4 cancelled · 5 waits for a person · 130 Ctrl-C
Environment and .env: docs/cli.md`;

const URL_OPTION = ['--url <address>', 'a server elsewhere; docs/cli.md says how it knows you [env: HANDRAIL_URL]'] as const;
const JSON_OPTION = ['--json', 'results as JSON on stdout'] as const;
const DEPLOYMENT_OPTION = ['--deployment', "the whole deployment's, which the operator's tenant may change"] as const;
const PENDING_OPTION = [
  '--non-tty-pending',
  'without a terminal: leave approvals to people [default: as the server is configured]',
] as const;
const REJECT_OPTION = ['--no-non-tty-pending', 'without a terminal: reject what needs approval'] as const;

/** The command line `handrail`. Each command is loaded when it is called; failures end in an exit code, never in a throw. */
export function createCli(context: CliContext = processContext()): Commander {
  const cli = new Commander('handrail')
    .description('Runs LLM agents whose every tool call is guarded, isolated and can wait for a person.')
    .version(VERSION)
    // `runs` and `runs show` both have --json: each option belongs to the command before it.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 100,
      getErrHelpWidth: () => context.stderr.columns ?? 100,
    })
    .exitOverride((error) => context.exitNow(error.exitCode === 0 ? EXIT.ok : EXIT.usage))
    .showHelpAfterError('(add --help to see what is possible)')
    .addHelpText('after', EXIT_CODES);
  addRunCommands(cli, context);
  addChatCommand(cli, context);
  addRunsCommands(cli, context);
  addKeptCommands(cli, context);
  addApprovalCommands(cli, context);
  addPolicyCommands(cli, context);
  addSkillCommands(cli, context);
  addTreeCommands(cli, context);
  addServerCommands(cli, context);
  return cli;
}

function addRunCommands(cli: Commander, context: CliContext): void {
  cli
    .command('run <input>')
    .description('start a run and see it through: events on stderr, the answer on stdout ("-" reads the input from a pipe)')
    .option('--session <id>', 'go on with a conversation')
    .option('--agent <name>', 'an agent of handrail.config.yaml')
    .option('--idempotency-key <key>', 'the same key and input give the same run')
    .option('--max-iterations <n>', 'LLM calls at most')
    .option('--no-wait', 'print the id of the run and leave it to the server')
    .option(...PENDING_OPTION)
    .option(...REJECT_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/run.ts')).run));
}

function addChatCommand(cli: Commander, context: CliContext): void {
  cli
    .command('chat')
    .description('a conversation: each line is a run of one session; Ctrl-C cancels the run at work, Ctrl-D ends')
    .option('--session <id>', 'go on with a conversation')
    .option('--agent <name>', 'an agent of handrail.config.yaml')
    .option('--max-iterations <n>', 'LLM calls of a run at most')
    .option(...PENDING_OPTION)
    .option(...REJECT_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/chat.ts')).chat));
}

function addRunsCommands(cli: Commander, context: CliContext): void {
  const runs = cli.command('runs').description('list runs, newest first; "runs show" and "runs events" look into one');
  addList(runs)
    .option('--status <status>', 'running, waiting, succeeded, failed, cancelled or limited')
    .option('--session <id>', 'of one conversation')
    .action(act(context, async () => (await import('./commands/runs.ts')).listRuns));
  runs
    .command('show <runId>')
    .description('how a run stands, what it cost, what it waits for, its answer')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/runs.ts')).showRun));
  runs
    .command('events <runId>')
    .description('the event log of a run; with --json one object a line')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/runs.ts')).listEvents));
  cli
    .command('cancel <runId>')
    .description('end a run')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/runs.ts')).cancel));
}

function addKeptCommands(cli: Commander, context: CliContext): void {
  cli
    .command('export <runId>')
    .description('all that is kept of a run as JSON, for audit: messages, events, decisions')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/export.ts')).exportRun));
  const sessions = cli
    .command('sessions')
    .alias('session')
    .description('look into a conversation and its files, or delete it')
    .enablePositionalOptions();
  sessions
    .command('show <sessionId>')
    .description('its shared state and its runs')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/sessions.ts')).showSession));
  sessions
    .command('delete <sessionId>')
    .description('delete it with its messages, runs, events, approvals and files; memory belongs to the tenant and stays')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/sessions.ts')).deleteSession));
  addFileCommands(sessions, context);
}

function addFileCommands(sessions: Commander, context: CliContext): void {
  sessions
    .command('files <sessionId> [directory]')
    .description('its files: bytes, when they were changed, path')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/session-files.ts')).listFiles));
  sessions
    .command('get <sessionId> <path>')
    .description('a file of it on stdout, up to 4 MB')
    .option('--output <file>', 'into a file instead')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/session-files.ts')).getFile));
  sessions
    .command('put <sessionId> <file> [path]')
    .description('create or replace a file of it, up to 4 MB; "-" reads it from a pipe. The session need not exist yet')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/session-files.ts')).putFile));
}

function addApprovalCommands(cli: Commander, context: CliContext): void {
  addList(cli.command('approvals').description('what people are asked to decide'))
    .option('--status <status>', 'pending (default), approved, edited, rejected, answered, expired, cancelled or all')
    .action(act(context, async () => (await import('./commands/approvals.ts')).listApprovals));
  addDecision(
    cli
      .command('approve <approvalId>')
      .description('let a call run')
      .option('--reason <text>', 'kept with the decision; the agent reads it'),
  ).action(act(context, async () => (await import('./commands/approvals.ts')).approve));
  addDecision(
    cli
      .command('reject <approvalId>')
      .description('refuse a call, or to answer; the agent is told why')
      .option('--reason <text>', 'kept with the decision; the agent reads it'),
  ).action(act(context, async () => (await import('./commands/approvals.ts')).reject));
  addDecision(cli.command('answer <approvalId> <text>').description('answer what an agent asks with ask_user')).action(
    act(context, async () => (await import('./commands/approvals.ts')).answer),
  );
}

function addDecision(command: Commander): Commander {
  return command
    .option('--wait', 'see the run through afterwards (always, when no server runs)')
    .option(...PENDING_OPTION)
    .option(...REJECT_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION);
}

function addPolicyCommands(cli: Commander, context: CliContext): void {
  const show = act(context, async () => (await import('./commands/policy.ts')).showPolicy);
  const shown = (command: Commander): Commander => command.option('--history', 'every version there was').action(show);
  const policy = cli
    .command('policy')
    .description('the live policy, which running runs go by from their next call on; it only tightens')
    .enablePositionalOptions()
    .option(...DEPLOYMENT_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION);
  shown(policy);
  const add = (name: string, description: string): Commander =>
    policy
      .command(name)
      .description(description)
      .option(...DEPLOYMENT_OPTION)
      .option(...URL_OPTION)
      .option(...JSON_OPTION);
  shown(add('show', 'what it adds to the configuration, who set it and when'));
  add('set <tool> <policy>', 'allow, confirm or deny; <tool> is a name, an alias or a glob such as "web_*"').action(
    act(context, async () => (await import('./commands/policy.ts')).setPolicy),
  );
  add('unset <tool>', 'return to what the configuration says').action(
    act(context, async () => (await import('./commands/policy.ts')).unsetPolicy),
  );
}

function addSkillCommands(cli: Commander, context: CliContext): void {
  const skills = cli.command('skills').description('skills: "skills check" says what becomes of each, "skills new" makes one');
  skills
    .command('check [dir]')
    .description('every skill below <dir>, or of the configuration: accepted, with warnings, or rejected with file, line and reason')
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/skills.ts')).checkSkills));
  skills
    .command('new <name>')
    .description('a new skill that passes the check, in the first directory of the configuration')
    .option('--kind <kind>', 'prompt (instructions, the default), handler (a tool) or tree (a fixed procedure)')
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/skills.ts')).newSkill));
}

function addTreeCommands(cli: Commander, context: CliContext): void {
  cli
    .command('tree')
    .description('trees of skills: "tree show" draws one')
    .command('show <skill>')
    .description('the tree as text; with --run, what became of its nodes there')
    .option('--run <runId>', 'a run that carried it out')
    .option('--mermaid', 'as a Mermaid flowchart')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/tree.ts')).showTree));
}

function addServerCommands(cli: Commander, context: CliContext): void {
  cli
    .command('tools')
    .description('the tools that agents may use')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/server.ts')).listTools));
  cli
    .command('doctor')
    .description('what a deployment to AWS needs, and what to do where it is missing; changes nothing')
    .option('--region <region>', 'where to deploy [env: AWS_REGION]')
    .option('--stage <stage>', 'whose configuration: handrail.config.<stage>.yaml where there is one (default: prod)')
    .option('--config <file>', 'another configuration file')
    .option('--qualifier <qualifier>', "CDK's, where it is not its default")
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/doctor.ts')).doctor));
  cli
    .command('health')
    .description('whether a server answers')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/server.ts')).health));
  cli
    .command('console')
    .description('the console of a deployment, on 127.0.0.1 until Ctrl-C; its requests go out with your credentials')
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/console.ts')).openConsole));
  cli
    .command('serve')
    .description('API and console on 127.0.0.1 until Ctrl-C (npm start); HANDRAIL_PORT chooses the port')
    .option(...JSON_OPTION)
    .action(act(context, async () => (await import('./commands/serve.ts')).serve));
}

function addList(command: Commander): Commander {
  return command
    .option('--limit <n>', 'how many, 1 to 100')
    .option('--cursor <cursor>', 'where the last page ended')
    .option(...URL_OPTION)
    .option(...JSON_OPTION);
}

function act(context: CliContext, load: () => Promise<Handler>): (this: Commander) => Promise<void> {
  return async function () {
    const options: unknown = this.opts();
    const screen = createScreen(context.stderr, context.env);
    try {
      const handler = await load();
      const environment = loadEnvironment(context, (line) => screen.line(screen.style.yellow(line)));
      const command: Command = { context, environment, screen };
      context.setExitCode(await handler(command, this.args, options));
    } catch (error) {
      context.setExitCode(reportFailure(error, context, screen, this.opts()['json'] === true));
    }
  };
}
