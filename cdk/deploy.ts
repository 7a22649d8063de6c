import { type App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { coreFunctions, type FunctionSpec, toolFunction } from '../lib/manifest.ts';
import { categories } from '../lib/tools/index.ts';
import type { Bundles } from './bundle.ts';
import type { Settings } from './config.ts';
import { AgentStack } from './stacks/agent-stack.ts';
import { StateStack } from './stacks/state-stack.ts';

/** Every function of a deployment. */
export function functionSpecs(): FunctionSpec[] {
  return [...coreFunctions, ...categories.map(toolFunction)];
}

export interface DeployProps {
  readonly settings: Settings;
  readonly functions: readonly FunctionSpec[];
  readonly bundles: Bundles;
}

/**
 * Both stacks of a deployment, checked by cdk-nag at synthesis. Without account and region: the template fits any, and
 * nothing asks AWS.
 */
export function addStacks(app: App, { settings, functions, bundles }: DeployProps): { state: StateStack; agent: AgentStack } {
  const { name } = settings;
  const state = new StateStack(app, `${name}-state`, { name, terminationProtection: true });
  const agent = new AgentStack(app, `${name}-agent`, { settings, state, functions, bundles });
  Tags.of(app).add('handrail', name);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { state, agent };
}
