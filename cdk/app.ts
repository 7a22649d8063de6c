import { fileURLToPath } from 'node:url';
import { App } from 'aws-cdk-lib';
import { bundleFunctions } from './bundle.ts';
import { readSettings } from './config.ts';
import { addStacks, functionSpecs } from './deploy.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = new App();
const settings = readSettings(app.node, root);
const functions = functionSpecs();
const bundles = await bundleFunctions({
  root,
  outdir: fileURLToPath(new URL('../cdk.out.bundles', import.meta.url)),
  functions,
  config: settings.config,
  configDirectory: settings.configDirectory,
});
addStacks(app, { settings, functions, bundles });
app.synth();
