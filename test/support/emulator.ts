import { fileURLToPath } from 'node:url';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetExecutionHistoryCommand, type HistoryEvent, SFNClient } from '@aws-sdk/client-sfn';
import { EMULATOR_PORT } from '../../lib/cli/emulator.ts';
import { deployLocal } from '../../lib/cli/emulator-deploy.ts';
import { STATES } from '../../lib/core/machine/loop.ts';
import { functionName } from '../../lib/manifest.ts';

/** A deployed stack as the end-to-end suite uses it. */
export interface DeployedStack {
  readonly apiUrl: string;
  /** For `Authorization`, with its scheme. */
  readonly authorization: string;
  /** Undefined for a stack of which only the address is known: what these need is then skipped, not failed. */
  readonly inside: StackInside | undefined;
}

interface StackInside {
  /** Runs a function at once, such as `sweep`, instead of waiting for its minute. */
  invoke(name: string, payload: unknown): Promise<unknown>;
  /** States that an execution entered, in order; each attempt of an Invoke counts, as each is a transition. */
  transitions(execution: string): Promise<string[]>;
}

/** Names of the suite's own deployment: one that `npm run deploy:local` made stays as it is. */
const NAME = 'handrail-test';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The stack at `HANDRAIL_URL` (with `HANDRAIL_SECRET`, which may be a JWT) if given, else one deployed to the emulator on port
 * `HANDRAIL_EMULATOR_PORT` (4566), which is started if it does not run and left running for the next time.
 */
export async function deployedStack(config: string, env: Readonly<Record<string, string | undefined>>): Promise<DeployedStack> {
  const url = env['HANDRAIL_URL'];
  if (url !== undefined)
    return { apiUrl: url.replace(/\/$/, ''), authorization: `Bearer ${env['HANDRAIL_SECRET'] ?? ''}`, inside: undefined };
  const port = Number(env['HANDRAIL_EMULATOR_PORT'] ?? EMULATOR_PORT);
  const { apiUrl, secret, emulator, stateMachineArn } = await deployLocal({ root: ROOT, port, config, name: NAME });
  return { apiUrl, authorization: `Bearer ${secret ?? ''}`, inside: stackInside(emulator.endpoint, stateMachineArn) };
}

/** What a client of the AWS SDK needs to talk to an emulator. */
export function emulatorClient(endpoint: string) {
  return { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
}

function stackInside(endpoint: string, stateMachineArn: string): StackInside {
  const lambda = new LambdaClient(emulatorClient(endpoint));
  const sfn = new SFNClient(emulatorClient(endpoint));
  return {
    async invoke(name, payload) {
      const { Payload, FunctionError } = await lambda.send(
        new InvokeCommand({ FunctionName: functionName(NAME, name), Payload: JSON.stringify(payload) }),
      );
      const text = Payload?.transformToString() ?? 'null';
      if (FunctionError !== undefined) throw new Error(`${name} failed: ${text}`);
      return JSON.parse(text);
    },
    async transitions(execution) {
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${execution}`;
      const events: HistoryEvent[] = [];
      let nextToken: string | undefined;
      do {
        const page = await sfn.send(new GetExecutionHistoryCommand({ executionArn, ...(nextToken === undefined ? {} : { nextToken }) }));
        events.push(...(page.events ?? []));
        nextToken = page.nextToken;
      } while (nextToken !== undefined);
      return transitionsIn(events);
    },
  };
}

/**
 * MiniStack writes no StateEntered for states inside a Map, and no parameters: there, an Invoke is what is scheduled
 * between entering and leaving the Map. The catchers' Pass states leave nothing at all, so they are counted nowhere.
 */
function transitionsIn(events: readonly HistoryEvent[]): string[] {
  let inMap = false;
  return events.flatMap(({ type, stateEnteredEventDetails }) => {
    if (type === 'MapStateEntered') inMap = true;
    if (type === 'MapStateExited') inMap = false;
    if (inMap && type !== 'MapStateEntered') return type === 'TaskScheduled' ? [STATES.invoke] : [];
    return stateEnteredEventDetails?.name === undefined ? [] : [stateEnteredEventDetails.name];
  });
}
