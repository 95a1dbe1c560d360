import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The most memory that a Node process had. */
export type PeakMemory = {
  /** For the environment of the process. */
  readonly env: { readonly NODE_OPTIONS: string };
  /** Returns the peak memory of the process that ended last, in MiB. */
  readonly megabytes: () => number;
};

/**
 * Lets Node processes write their peak memory when they end.
 *
 * @param dir where the two files are kept
 */
export const peakMemory = (dir: string): PeakMemory => {
  const [program, peak] = [join(dir, 'peak.cjs'), join(dir, 'peak')];
  writeFileSync(
    program,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(peak)}, String(process.resourceUsage().maxRSS)));\n`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${program}` },
    megabytes: () => Number(readFileSync(peak, 'utf8')) / 1024,
  };
};
