import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

/** The Chromium of this machine (Debian: `apt-get install chromium`); `CHROMIUM_PATH` names another. Undefined: there is none. */
export function chromiumPath(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  return (named === undefined ? PLACES : [named]).find((path) => existsSync(path));
}

/** A browser without a window that asks nobody on the network for anything. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
