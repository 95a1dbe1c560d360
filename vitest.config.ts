import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const alias = {
  'tsalt-ssh/module': fileURLToPath(new URL('./src/modules/api.ts', import.meta.url)),
  'tsalt-ssh/testing': fileURLToPath(new URL('./src/modules/testing.ts', import.meta.url)),
};

// Most tests wait for processes: on two cores one worker alone leaves a core idle. Files share
// nothing but the machine: each has its own folders, ports, and number of a lab.
const maxWorkers = Math.max(availableParallelism() - 1, 2);

// One second, the default, is not enough where a program must start first on a loaded machine.
const expectations = { poll: { timeout: 30_000 } };

// It ends what hangs. On a loaded machine tests that build several artifacts took two minutes.
const patience = 240_000;

// Of tests, and of files that vitest itself makes: a test that changes its user loads some of them.
process.umask(0o022);

const setupFiles = ['test/temporary-folder.ts'];
const globalSetup = ['test/built.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/host/integration/**', 'test/lab/**'],
          setupFiles,
          globalSetup,
          maxWorkers,
          expect: expectations,
          testTimeout: patience,
          hookTimeout: patience,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'types',
          include: [],
          typecheck: { enabled: true, only: true, include: ['test/types/**/*.test-d.ts'] },
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          include: ['test/host/integration/**/*.test.ts', 'test/lab/**/*.test.ts'],
          setupFiles,
          globalSetup,
          maxWorkers,
          expect: expectations,
          testTimeout: patience,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
