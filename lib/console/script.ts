import { approvalsPart } from './script-approvals.ts';
import { basePart } from './script-base.ts';
import { eventsPart } from './script-events.ts';
import { runsPart } from './script-runs.ts';

/**
 * The console's script: one module, served as text. Everything that comes from the API is put on the page as text nodes
 * only; no part of it is ever read as HTML.
 */
export const consoleScript = [basePart, approvalsPart, eventsPart, runsPart].join('\n');
