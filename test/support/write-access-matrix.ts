import { readFileSync, writeFileSync } from 'node:fs';
import { withMatrix } from './security-page.ts';

/** `npm run docs:security`: puts the matrix of the templates as they are into docs/security.md. */
const path = new URL('../../docs/security.md', import.meta.url);
writeFileSync(path, withMatrix(readFileSync(path, 'utf8')));
