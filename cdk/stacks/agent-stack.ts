import { Annotations, CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { HandrailError } from '../../lib/core/errors.ts';
import type { FunctionSpec } from '../../lib/manifest.ts';
import type { Bundles } from '../bundle.ts';
import type { Settings } from '../config.ts';
import { Api } from '../constructs/api.ts';
import { DeadLetters } from '../constructs/dead-letters.ts';
import type { Deployment, Isolation } from '../constructs/deployment.ts';
import { LambdaFunction, type LambdaFunctionProps } from '../constructs/lambda-function.ts';
import { Loop } from '../constructs/loop.ts';
import { Network, ZONES } from '../constructs/network.ts';
import { Observability } from '../constructs/observability.ts';
import { SkillFunctions } from '../constructs/skill-functions.ts';
import { ToolFunctions } from '../constructs/tool-functions.ts';
import { MailTopic } from '../constructs/topic.ts';
import { Settle, Sweep } from '../constructs/triggers.ts';
import { Workspace } from '../constructs/workspace.ts';
import type { StateStack } from './state-stack.ts';

export interface AgentStackProps extends StackProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly functions: readonly FunctionSpec[];
  readonly bundles: Bundles;
}

/** Everything that computes: may be deleted and deployed again without losing a run's data. */
export class AgentStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentStackProps) {
    super(scope, id, { ...props, description: 'Handrail: the loop, its functions and the API' });
    const { settings, state, functions, bundles } = props;
    const isolation = isolationOf(this, settings, state);
    const deployment: Deployment = { settings, bundles, tables: state.tables, key: state.key, isolation };
    const spec = (name: string): FunctionSpec => {
      const found = functions.find((candidate) => candidate.name === name);
      if (found === undefined) throw new HandrailError('INTERNAL', `there is no function ${name}`);
      return found;
    };
    const tools = functions.filter(({ name }) => name.startsWith('tool-'));
    const toolFunctions = new ToolFunctions(this, 'Tools', { deployment, tools });
    new LambdaFunction(this, 'Reason', { deployment, spec: spec('reason') });
    const api = new Api(this, 'Api', { deployment, spec: spec('api') });
    const telling = tellingOf(this, deployment, api);
    new LambdaFunction(this, 'Suspend', { deployment, spec: spec('suspend'), ...telling });
    const skills = functions.filter((one) => one.skill !== undefined);
    const skillFunctions = new SkillFunctions(this, 'Skills', { deployment, skills });
    const loop = new Loop(this, 'Loop', { deployment, reason: spec('reason'), suspend: spec('suspend'), tools: [...tools, ...skills] });
    toolFunctions.allowInvocationBy(loop.role);
    skillFunctions.allowInvocationBy(loop.role);
    const deadLetters = new DeadLetters(this, 'DeadLetters', deployment).queue;
    new Settle(this, 'Settle', { deployment, spec: spec('settle'), deadLetters });
    new Sweep(this, 'Sweep', { deployment, spec: spec('sweep'), deadLetters, ...telling });
    new Observability(this, 'Observability', {
      deployment,
      functions: functions.map(({ name }) => name),
      stateMachineArn: loop.resource.ref,
      deadLetters,
    });
    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'ApiId', { value: api.id });
    new CfnOutput(this, 'ApiAuth', { value: api.auth });
    new CfnOutput(this, 'StateMachineArn', { value: loop.resource.ref });
  }

  /** By position, so that no look-up with credentials is needed. */
  override get availabilityZones(): string[] {
    return Array.from({ length: ZONES }, (_, zone) => Fn.select(zone, Fn.getAzs()));
  }
}

/** The network for what works with files or code, unless the stage or an emulator does without. */
function isolationOf(stack: Stack, settings: Settings, { files, key }: StateStack): Isolation | undefined {
  if (settings.target === 'emulator') return undefined;
  if (files === undefined) {
    Annotations.of(stack).addWarningV2('handrail:network-none', WITHOUT_NETWORK);
    return undefined;
  }
  const network = new Network(stack, 'Network', { settings, key });
  const { mount } = new Workspace(stack, 'Workspace', { files, key, network });
  return { vpc: network.vpc, subnets: network.subnets, securityGroup: network.securityGroup, mount };
}

const WITHOUT_NETWORK = [
  'network=none: there is no VPC and no workspace. What is lost:',
  '- read_file, write_file, list_directory and the files of sessions in the API: they are left out',
  '- files in execute_python, execute_shell and execute_javascript: a script finds none, and what it writes is gone after the call',
  '- the network boundary around the code function: only the sandbox keeps a script from the network',
].join('\n');

/** What the functions that tell people are given: the address for links, and the topic of those who are mailed. */
function tellingOf(stack: Stack, deployment: Deployment, api: Api): Pick<LambdaFunctionProps, 'environment' | 'rights'> {
  const mail = deployment.settings.approvalsMail;
  if (mail === undefined) return { environment: { apiUrl: api.url } };
  const approvals = new MailTopic(stack, 'Approvals', { deployment, name: 'approvals', mail });
  return {
    environment: { apiUrl: api.url, approvalsTopic: approvals.topic.topicArn },
    rights: approvals.publishRights(deployment),
  };
}
