import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, release } from 'node:os';

type Package = { readonly version: string; readonly dependencies: Record<string, string> };

/** This program's package.json: above `src/cli` and above `dist` alike. */
const ownPackage = (): Package => {
  for (const path of ['../package.json', '../../package.json'])
    try {
      const text = readFileSync(new URL(path, import.meta.url), 'utf8');
      const found: unknown = JSON.parse(text);
      if (typeof found === 'object' && found !== null && 'name' in found)
        if (found.name === 'tsalt-ssh') return found as unknown as Package;
    } catch {
      // The next place may have it.
    }
  return { version: 'unknown', dependencies: {} };
};

/** The version of tsalt-ssh. */
export const ownVersion = (): string => ownPackage().version;

export const versionText = (): string => `tsalt-ssh ${ownPackage().version}\n`;

/** `--versions-report`: what a bug report needs. */
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
