import { join } from 'node:path';
import type { Notice } from '../core/ports/notices.ts';
import type { LocalRuntime } from '../runtime/local.ts';
import type { CliContext } from './context.ts';
import type { Environment } from './environment.ts';
import { type LogLevel, screenLogger } from './log.ts';
import type { Screen } from './screen.ts';

const CONFIG_FILE = 'handrail.config.yaml';

export interface OwnServer {
  readonly runtime: LocalRuntime;
  /** Why this LLM, for people. */
  readonly because: string;
  readonly demo: boolean;
  /** There is a configuration file in the current directory. */
  readonly configured: boolean;
}

export interface OwnServerOptions {
  /** 0 = any free one. */
  readonly port: number;
  /** False for commands that only read: runs of an earlier process stay as they are. */
  readonly resume: boolean;
  /** What is logged when HANDRAIL_LOG does not say. */
  readonly log: LogLevel;
  /** Told when somebody is asked for a decision. */
  readonly onNotice?: (notice: Notice) => void;
}

/**
 * The whole product in this process, as the environment and the configuration file of the current directory say. Loaded
 * only when it is needed: it is most of the program. Errors: BAD_REQUEST with `<file>:<line>: <field>: <problem>`,
 * CONFLICT when the port or the data directory is in use.
 */
export async function startOwnServer(
  { context, environment, screen }: { context: CliContext; environment: Environment; screen: Screen },
  { port, resume, log, onNotice }: OwnServerOptions,
): Promise<OwnServer> {
  const [{ readConfig }, { readIfThere }] = await Promise.all([import('../runtime/config.ts'), import('../runtime/named-file.ts')]);
  let configured = false;
  const { config, place } = readConfig(join(context.cwd, CONFIG_FILE), (path) => {
    const text = readIfThere(path);
    configured = text !== undefined;
    return text;
  });
  const [{ startLocal }, { chooseLocalModel }, { systemClock, systemRandom }] = await Promise.all([
    import('../runtime/local.ts'),
    import('../runtime/local-model.ts'),
    import('../runtime/system.ts'),
  ]);
  const choice = await chooseLocalModel(config, environment);
  const runtime = await startLocal({
    directory: environment.directory,
    port,
    config,
    configDirectory: context.cwd,
    place,
    choice,
    clock: systemClock,
    random: systemRandom,
    logger: screenLogger(screen, environment.HANDRAIL_LOG ?? log),
    environment,
    resume,
    ...(onNotice ? { onNotice } : {}),
  });
  return { runtime, because: choice.because, demo: choice.demo, configured };
}
