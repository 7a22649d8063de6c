import { type App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { HandrailError } from '../lib/core/errors.ts';
import { noSkills, type SkillCatalogue } from '../lib/core/skills/skill.ts';
import { coreFunctions, type FunctionSpec, skillFunctions, toolFunction } from '../lib/manifest.ts';
import { categories } from '../lib/tools/index.ts';
import type { Bundles } from './bundle.ts';
import type { Settings } from './config.ts';
import { AgentStack } from './stacks/agent-stack.ts';
import { StateStack } from './stacks/state-stack.ts';

/** Every function of a deployment. Where there is no workspace, those that work on nothing else are left out. */
export function functionSpecs({ files = true, skills = noSkills }: { files?: boolean; skills?: SkillCatalogue } = {}): FunctionSpec[] {
  const tools = categories.filter(({ needs }) => files || !needs.includes('workspace') || needs.includes('codeRunner'));
  return [...coreFunctions, ...tools.map(toolFunction), ...skillFunctions(skills)];
}

export interface DeployProps {
  readonly settings: Settings;
  readonly functions: readonly FunctionSpec[];
  readonly bundles: Bundles;
}

/**
 * Both stacks of a deployment, checked by cdk-nag at synthesis. Unless the stage names account and region the template
 * fits any, and in no case does anything ask AWS.
 */
export function addStacks(app: App, { settings, functions, bundles }: DeployProps): { state: StateStack; agent: AgentStack } {
  const { name, retain, reservedConcurrency } = settings;
  const names = functions.map((spec) => spec.name);
  const unknown = Object.keys(reservedConcurrency).find((which) => !names.includes(which));
  if (unknown !== undefined) {
    throw new HandrailError('BAD_REQUEST', `context reservedConcurrency: there is no function "${unknown}"; there are ${names.join(', ')}`);
  }
  const env = settings.env === undefined ? {} : { env: settings.env };
  const state = new StateStack(app, `${name}-state`, { ...env, settings, terminationProtection: retain });
  const agent = new AgentStack(app, `${name}-agent`, { ...env, settings, state, functions, bundles });
  Tags.of(app).add('handrail', name);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return { state, agent };
}
