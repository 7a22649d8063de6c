import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from './security-page.ts';

/** `npm run docs:security`: puts the tables as they are into docs/security.md. */
const path = new URL('../../docs/security.md', import.meta.url);
writeFileSync(path, withTables(readFileSync(path, 'utf8')));
