import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import type { UncaughtError } from './unsteady.ts';

/** Where a run of tests writes the errors that no test caught. */
export const uncaughtErrorsFile = 'coverage/uncaught.json';

/** Reporter of vitest for what its JSON report leaves out: errors that no test caught. */
export default class UncaughtErrors implements Reporter {
  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const uncaught: UncaughtError[] = errors.map(({ VITEST_TEST_PATH: file, message }) => ({
      file: typeof file === 'string' ? file : undefined,
      message,
    }));
    mkdirSync(dirname(uncaughtErrorsFile), { recursive: true });
    writeFileSync(uncaughtErrorsFile, JSON.stringify(uncaught));
  }
}
