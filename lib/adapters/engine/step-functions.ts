import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  TaskDoesNotExist,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import type { JsonObject } from '../../core/json.ts';
import type { Engine } from '../../core/ports/engine.ts';

/** What StartExecution takes (API reference); anything else would be refused with the execution. */
const TRACE_HEADER = /^[ -~]{1,256}$/;

/**
 * AWS Step Functions (or an emulator of it) behind the engine port. Retries of throttled requests are the client's;
 * what outlives them is thrown as the SDK throws it.
 */
export class StepFunctionsEngine implements Engine {
  readonly #client: SFNClient;
  readonly #stateMachineArn: string;
  readonly #trace: () => string | undefined;

  /** `trace`: X-Ray's header of the invocation that asks; an execution that it starts belongs to the same trace. */
  constructor(client: SFNClient, stateMachineArn: string, trace: () => string | undefined = () => undefined) {
    this.#client = client;
    this.#stateMachineArn = stateMachineArn;
    this.#trace = trace;
  }

  /**
   * A repeated start with the same input while the execution runs answers `started` too: the service does not tell it
   * from the first (API reference of StartExecution).
   */
  async start(name: string, input: JsonObject): Promise<'started' | 'exists'> {
    const trace = this.#trace();
    try {
      await this.#client.send(
        new StartExecutionCommand({
          stateMachineArn: this.#stateMachineArn,
          name,
          input: JSON.stringify(input),
          ...(trace !== undefined && TRACE_HEADER.test(trace) ? { traceHeader: trace } : {}),
        }),
      );
      return 'started';
    } catch (error) {
      if (error instanceof ExecutionAlreadyExists) return 'exists';
      throw error;
    }
  }

  async sendTaskSuccess(token: string, output: JsonObject): Promise<'delivered' | 'gone'> {
    try {
      await this.#client.send(new SendTaskSuccessCommand({ taskToken: token, output: JSON.stringify(output) }));
      return 'delivered';
    } catch (error) {
      // A second answer, an expired task, a closed execution: which of the three comes differs between engines.
      if (error instanceof TaskTimedOut || error instanceof TaskDoesNotExist || error instanceof InvalidToken) return 'gone';
      throw error;
    }
  }

  async status(name: string): Promise<'running' | 'closed' | 'absent'> {
    const executionArn = `${this.#stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
    try {
      // Without input and output, whose key the caller may have no right to.
      const { status } = await this.#client.send(new DescribeExecutionCommand({ executionArn, includedData: 'METADATA_ONLY' }));
      return status === 'RUNNING' ? 'running' : 'closed';
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return 'absent';
      throw error;
    }
  }
}
