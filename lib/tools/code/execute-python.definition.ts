import { defineTool } from '../../core/hands/define-tool.ts';
import { parametersOf } from '../arguments.ts';
import { codeArguments, SANDBOX_RULES } from './arguments.ts';

export const executePythonArguments = codeArguments(
  'A Python 3.13 program. Only what it prints comes back, not the value of its last line.',
);

/** Seed 004 section 1.2. */
export const executePythonDefinition = defineTool({
  name: 'execute_python',
  description:
    'Runs a Python 3.13 program in a sandbox. The standard library is there (json, csv, re, math, statistics, decimal, datetime, collections, ' +
    'itertools, pathlib, zipfile, tarfile, gzip, hashlib, random, unittest, ...) except sqlite3, ssl, lzma, ctypes, zoneinfo, curses. No third-party ' +
    'packages (no numpy, pandas, requests, yaml), no threads, no subprocess, no asyncio event loop. ' +
    SANDBOX_RULES,
  parameters: parametersOf(executePythonArguments),
  category: 'code',
  permissions: { execution: { allowedCommands: ['python3'] } },
  timeoutMs: 30_000,
  maxConcurrency: 1,
  effectTags: ['code.exec'],
  aliases: ['python', 'run_python'],
});
