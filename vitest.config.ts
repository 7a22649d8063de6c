import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], testTimeout = 20_000) => ({ test: { name, include, testTimeout, hookTimeout: 60_000 } });

export default defineConfig({
  test: {
    projects: [
      project('faults', ['test/faults/**/*.test.ts'], 400_000),
      project('unit', ['test/{unit,property,contract,infra,security,replay}/**/!(*.cloud).test.ts']),
      project('e2e', ['test/e2e/**/*.embedded.test.ts'], 60_000),
      project('cloud', ['test/{e2e,infra}/**/*.cloud.test.ts'], 120_000),
    ],
  },
});
