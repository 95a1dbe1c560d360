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

// Of tests, and of files that vitest itself makes: a test that changes its user loads some of them.
process.umask(0o022);

// `npm test` and `npm run check` leave slow tests to the whole check, and name them as skipped. Files
// that `npx vitest run` is told to run are run whole.
const leavesSlow =
  !process.env.CI && ['test', 'check'].includes(process.env.npm_lifecycle_event ?? '');

const shared = {
  tags: [
    {
      name: 'slow',
      description: 'Takes seconds, even where nothing else runs. `CI=true npm test` runs it.',
      skip: leavesSlow,
    },
  ],
  setupFiles: ['test/temporary-folder.ts'],
  maxWorkers,
  // One second, the default, is not enough where a program must start first on a loaded machine.
  expect: { poll: { timeout: 30_000 } },
  // It ends what hangs. On a loaded machine tests that build several artifacts took two minutes.
  testTimeout: 240_000,
  hookTimeout: 240_000,
};

/** Tests that run the built command line and boot hosts. */
const machine = {
  globalSetup: ['test/built.ts', 'test/leftovers.ts'],
  hookTimeout: 600_000,
};

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          globalSetup: ['test/leftovers.ts'],
          // Modules are loaded once per worker, not once per file: a file leaves the process as it was.
          isolate: false,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/types/**/*.test-d.ts'],
            tsconfig: 'test/types/tsconfig.json',
          },
        },
      },
      {
        resolve: { alias },
        test: { ...shared, ...machine, name: 'host', include: ['test/host/**/*.test.ts'] },
      },
      {
        resolve: { alias },
        test: { ...shared, ...machine, name: 'lab', include: ['test/lab/**/*.test.ts'] },
      },
    ],
  },
});
