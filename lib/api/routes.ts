import type { Route } from './route.ts';
import { decideOnPage, showApprovalPage } from './routes/approval-page.ts';
import { decideApproval, decideApprovals, getApproval, listApprovals } from './routes/approvals.ts';
import { consoleRoot, consoleScriptFile, consoleStyleFile, signIn } from './routes/console.ts';
import { listEvents } from './routes/events.ts';
import { exportRun } from './routes/export.ts';
import { health } from './routes/health.ts';
import { openApiRoute } from './routes/openapi.ts';
import { getPolicy, listPolicyHistory, putPolicy } from './routes/policy.ts';
import { cancelRun, getRun, listRuns, startRun } from './routes/runs.ts';
import { listFiles, readFile, writeFile } from './routes/session-files.ts';
import { deleteSession, getSession } from './routes/sessions.ts';
import { startSkillRun } from './routes/skill-runs.ts';
import { listSkills } from './routes/skills.ts';
import { listTools } from './routes/tools.ts';

/** Every route of the product: the app, the OpenAPI document and the tests are made from this list. */
export const routes: readonly Route[] = [
  startRun,
  listRuns,
  getRun,
  listEvents,
  exportRun,
  cancelRun,
  listApprovals,
  decideApprovals,
  getApproval,
  decideApproval,
  showApprovalPage,
  decideOnPage,
  getSession,
  deleteSession,
  listFiles,
  readFile,
  writeFile,
  getPolicy,
  putPolicy,
  listPolicyHistory,
  listTools,
  listSkills,
  startSkillRun,
  consoleRoot,
  consoleScriptFile,
  consoleStyleFile,
  signIn,
  health,
  openApiRoute(() => routes),
];
