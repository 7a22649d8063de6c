import { closeGlobals } from './guard.ts';

/**
 * The guard of a child that holds an interpreter: it needs no part of Node's web client, and just-bash reads `Headers` when it is
 * loaded, which took 60 ms and 12 MB of every child's start. Handlers of skills get answers as `Response`.
 */
closeGlobals(['Headers', 'Request', 'Response', 'FormData']);
