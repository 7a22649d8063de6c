import * as z from 'zod';

/** What all three languages are called with. */
export const codeArguments = (code: string) =>
  z.strictObject({
    code: z.string().min(1).describe(code),
    stdin: z.string().optional().describe('Text the script reads as its standard input.'),
  });

/** The part of each description that is true of all three: what is not there saves the model a failed attempt. */
export const SANDBOX_RULES =
  "The session's files are in the current directory, /workspace; files changed there are kept, everything else (variables, /tmp) is gone " +
  'afterwards: each call starts fresh. There is no network, nothing can be installed, and no other program can be started. Limits: 30 s, ' +
  'about 850 MB of memory, 10 MB a file, 100 MB and 2000 files in all; a call that exceeds the time or memory changes no file. Returns ' +
  '`exitCode`, `stdout`, `stderr` and `files` (paths written or removed); print what you want to see, in moderation. Of long output ' +
  'the beginning and the end are shown; `whole` then names the file that has all of it.';
