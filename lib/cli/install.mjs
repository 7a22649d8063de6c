// Plain JavaScript for whatever Node runs npm: installs what the lockfile names, when something of it is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Packages by place, from a lockfile of npm. Those for other platforms are never installed and do not count. */
function packagesOf(file) {
  if (!existsSync(file)) return {};
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

const wanted = packagesOf(join(root, 'package-lock.json'));
const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
const complete = Object.entries(wanted).every(
  ([place, { version, optional }]) => place === '' || optional || installed[place]?.version === version,
);

if (!complete || !existsSync(join(root, 'node_modules', 'node', 'bin', 'node'))) {
  console.error('Installing what package-lock.json names (once) …');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    console.error('npm ci failed; see its message above.');
    process.exit(npm.status ?? 1);
  }
}
