import { createRequire } from 'node:module';
import { arch, platform, release } from 'node:os';
import { ownPackage } from '../bundle/package-info.ts';

export const versionText = (): string => `tsalt-ssh ${ownPackage().version}\n`;

/** `--versions-report`: prints the versions for a bug report. */
export const versionsReport = (): string => {
  const { version, dependencies } = ownPackage();
  const require = createRequire(import.meta.url);
  const installed = Object.entries(dependencies).map(([name, wanted]) => {
    try {
      const found = require(`${name}/package.json`) as { version: string };
      return [name, found.version];
    } catch {
      return [name, wanted];
    }
  });
  const block = (title: string, rows: readonly (readonly string[])[]): string => {
    const width = Math.max(...rows.map(([name = '']) => name.length));
    return [
      `${title}:`,
      ...rows.map(([name = '', value = '']) => `  ${name.padStart(width)}: ${value}`),
    ].join('\n');
  };
  const { node, v8, openssl = '', zlib = '' } = process.versions;
  return `${[
    block('tsalt-ssh', [['tsalt-ssh', version]]),
    block('Packages', installed),
    block('Runtime', [
      ['node', node],
      ['v8', v8],
      ['openssl', openssl],
      ['zlib', zlib],
    ]),
    block('System', [
      ['platform', platform()],
      ['machine', arch()],
      ['release', release()],
    ]),
  ].join('\n\n')}\n`;
};
