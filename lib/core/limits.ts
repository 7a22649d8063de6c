/**
 * Every default and every service limit the product is built around, with its source. Byte counts are UTF-8.
 */
const KIB = 1024;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Step Functions: input or output of a state (Service quotas; not catchable when exceeded). */
export const STATE_DATA_BYTES = 256 * KIB;
/** What a stage's arguments or results may take of it; the rest is for keys and context (design 3.5). */
export const STAGE_BYTES = 200 * KIB;
/** One observation, seed 004 section 3.4. */
export const RESULT_BYTES = 50 * KIB;
/** Arguments of one call (design 3.5): beyond, the LLM is told to write in parts. */
export const ARGUMENTS_BYTES = 128 * KIB;
/** Arguments and schemas nested deeper are refused: past this, recursive readers of JSON run out of stack. */
export const JSON_DEPTH = 64;
/** A tool's JSON Schema. Its compile time grows with it, and skills bring their own. */
export const SCHEMA_BYTES = 32 * KIB;
/** DynamoDB items hold 400 KB; a message beyond this is stored in parts (design 3.5). */
export const MESSAGE_ITEM_BYTES = 350_000;
/** The run item (design 3.2). */
export const RUN_ITEM_BYTES = 200_000;
/** A blackboard (design 3.2), and up to where its values stand in the run item. */
export const BLACKBOARD_BYTES = 1_000_000;
export const INLINE_VALUE_BYTES = 4 * KIB;
/** What small values of one blackboard may take of the run item together: it holds up to three of them, and much else. */
export const INLINE_BOARD_BYTES = 16 * KIB;
/**
 * What the runs of a session share. `bytes` and `keys`: in all. Small values stand in place as far as `inlineBytes` of the session's
 * item go, and `ridingBytes` of the run's, in which they ride until it has ended.
 */
export const SESSION_STATE = { bytes: 1_000_000, keys: 100, inlineBytes: 64 * KIB, ridingBytes: 8 * KIB } as const;
/** What an error that escapes a handler may carry (design 3.5). */
export const ESCAPED_ERROR_BYTES = 1_000;
/** The text that starts a run: it rides in the run item. Larger data belongs in a file of the workspace. */
export const INPUT_BYTES = 64 * KIB;
/** A run's constraints, all layers merged: they ride in the run item as well. */
export const CONSTRAINTS_BYTES = 16 * KIB;
/** The answer of a run, which rides in the run item too. A longer one is whole in the transcript. */
export const ANSWER_BYTES = 48 * KIB;
/** Body of an API request. */
export const REQUEST_BYTES = 1_000_000;
/** Step Functions ends an execution at 25,000 history events; we continue in a new one before this (design 3.5). */
export const HISTORY_EVENTS = 20_000;
/** BatchWriteItem (API reference). */
export const BATCH_WRITE_ITEMS = 25;
/** BatchGetItem (API reference). */
export const BATCH_GET_ITEMS = 100;

export const MAX_ITERATIONS = 25;
export const MAX_MESSAGES = 80;
export const HISTORY_LIMIT = 20;
export const FRAME_DEPTH = 3;
/** Calls of one assistant message that are looked at; more are answered INVALID_ARGUMENTS (OpenAI's own limit). */
export const BATCH_CALLS = 128;
/**
 * Calls of one stage. What surrounds arguments and results, and errors in place of results, have to fit into the state
 * data beside them; the Act map runs only ten at a time anyway.
 */
export const STAGE_CALLS = 50;
/** Active time of a run, ms. */
export const RUN_TIMEOUT_MS = 60 * MINUTE_MS;
/** `MaxConcurrency` of the Act map (design 3.1). */
export const STAGE_CONCURRENCY = 10;

/** Seed 004 section 2.2: the tool's timeout, else the category's, else this, all clamped. */
export const TOOL_TIMEOUT_MS = { default: 10_000, min: 1_000, max: 120_000 } as const;
export const RETRY = { maxRetries: 2, intervalSeconds: 1, backoffRate: 2, maxDelaySeconds: 10 } as const;

export const APPROVAL_TTL_MS = { default: DAY_MS, max: 7 * DAY_MS } as const;
/** Suspend's backstop: longer than any approval lives (design 3.1). */
export const SUSPEND_TIMEOUT_SECONDS = 7 * 24 * 3600 + 3600;
/** A live policy: it is read at every step of every run. */
export const POLICY_BYTES = 32 * KIB;
/** ms for which a policy that a step has read counts as that of the moment. Beyond, it is read again before calls are judged. */
export const POLICY_AGE_MS = 1_000;
/** Closed suspensions are kept this long (design 5.3). */
export const SUSPENSION_TTL_MS = 30 * DAY_MS;

/** Concurrency of a deployment, seed 004 section 7.1. */
export const CONCURRENCY = {
  global: 10,
  categories: { file: 5, network: 3, code: 2, memory: 8 },
  tools: { web_search: 2, web_fetch: 2, execute_python: 1 },
} as const;
/** Seed 004 section 7.2. A waiting call is forgotten `graceMs` after the poll its run announced (design 6.5). */
export const QUEUE = { depth: 50, waitMs: 30_000, pollSeconds: 1, graceMs: 5_000 } as const;
/** Attempts to change the permits item before the run waits instead (design 6.5). */
export const PERMIT_CONFLICTS = 8;

/** Equal results in a row for the same tool and arguments after which the next request is refused (design 6.4). */
export const LOOP_RESULTS = 3;
/** Calls of a frame whose results are compared; the longest unused is forgotten. */
export const LOOP_MEMORY = 12;
/**
 * A pass of sweep in AWS, every minute: for how long it begins to look at items, and at how many runs in a second. Each
 * run is a DescribeExecution, of which an account has 15 a second (10 in smaller regions).
 */
export const SWEEP = { itemsMs: 35_000, runsPerSecond: 8 } as const;
export const PREVIEW_CHARACTERS = 500;
/** Calls over this age show as `tool.call.progress` (seed 004 section 7.3). */
export const PROGRESS_MS = 5_000;
/** One file through the API: as base 64, with what is around it, it fits into the 6 MB of a Lambda's answer. */
export const FILE_TRANSFER_BYTES = 4 * 1024 * KIB;
/** Workspace (design 6.6): a file, and a session's whole workspace. */
export const FILE_BYTES = 10 * 1024 * KIB;
export const WORKSPACE = { bytes: 100 * 1024 * KIB, files: 2_000 } as const;
/** Outputs too long for a result that a workspace keeps; the oldest goes for a new one. */
export const KEPT_OUTPUTS = 20;
export const MEMORY = { valueBytes: 64 * KIB, entries: 1_000 } as const;
/** Fetching (design 6.6): bytes of a response, decompressed, and redirects followed. */
export const FETCH = { bytes: 10 * 1024 * KIB, redirects: 5 } as const;
/**
 * Skills (design section 7). Front matter: bytes and keys that are read. Characters of a description that the LLM is shown (the
 * standard's own limit). `file` and `texts`: bytes of one file, and of all files of a skill, that `load_skill` can give out.
 * `prompt`: bytes of chosen skills' bodies in one system prompt; `list`: of the list of the others.
 */
export const SKILL = {
  frontMatterBytes: 16 * KIB,
  frontMatterKeys: 200,
  nameCharacters: 64,
  descriptionCharacters: 1024,
  bodyBytes: 512 * KIB,
  fileBytes: 64 * KIB,
  textsBytes: 256 * KIB,
  files: 200,
  depth: 8,
  promptBytes: 48 * KIB,
  listBytes: 12 * KIB,
} as const;
/**
 * Trees (design section 8). `attempts`: of one retry; `allAttempts`: of all retries around a node, multiplied.
 * `textCharacters`: a prompt or task after its placeholders are filled in. `errorCharacters`: kept of a node's failure.
 */
export const TREE = {
  fileCharacters: 256 * KIB,
  depth: 64,
  nodes: 500,
  pathCharacters: 800,
  attempts: 100,
  allAttempts: 200,
  delaySeconds: 24 * 3600,
  textCharacters: 400_000,
  titleCharacters: 200,
  messageCharacters: 4_000,
  errorCharacters: 500,
} as const;
