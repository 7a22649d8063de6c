#!/usr/bin/env node
// Starts the CLI on the Node that the project pins, whatever Node this is.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './install.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const node = join(here, '..', '..', 'node_modules', 'node', 'bin', 'node');
const child = spawn(node, [join(here, 'main.ts'), ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`cannot start ${node}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
