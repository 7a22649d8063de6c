import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], testTimeout = 20_000) => ({ test: { name, include, testTimeout, hookTimeout: 60_000 } });

export default defineConfig({
  test: {
    projects: [
      project('faults', ['test/faults/**/*.test.ts'], 400_000),
      // `npm run check`: what can be known in a minute. The others go with it in `npm test`.
      project('unit', ['test/unit/core/**/*.test.ts', 'test/property/**/*.test.ts', 'test/infra/boundaries.test.ts']),
      project('parts', [
        'test/unit/!(core)/**/*.test.ts',
        'test/{contract,security,replay}/**/*.test.ts',
        'test/infra/**/!(boundaries|*.cloud).test.ts',
      ]),
      project('e2e', ['test/e2e/**/*.embedded.test.ts'], 60_000),
      project('cloud', ['test/{e2e,infra}/**/*.cloud.test.ts'], 120_000),
    ],
  },
});
