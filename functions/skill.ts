/** What the generated entry of a handler skill's function is made with: `handler = skillLambda(its tool, its module)`. */
export { skillLambda } from '../lib/runtime/aws-tools.ts';
