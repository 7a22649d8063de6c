import { createCli } from './cli.ts';

await createCli().parseAsync(process.argv);
