import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toPlain } from '../../../../src/data/values/value.ts';
import { loadYaml } from '../../../../src/yaml/load.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

// Pages may contain a whole tutorial: file blocks, whose first line is a comment with the path, and
// `console` blocks with commands and what they print. They are written and run in their order.

/** A file to write, or a command with the lines it prints. */
type Step =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly code: number;
      readonly output: readonly string[];
    };

const console = (block: string): Step[] =>
  block.split(/^\$ /m).flatMap((part): Step[] => {
    const [line = '', ...output] = part.split('\n');
    if (line.trim() === '') return [];
    const code = Number(/# exit code (\d+)$/.exec(line)?.[1] ?? 0);
    const command = line.replace(/\s+# exit code \d+$/, '');
    return [{ kind: 'command', command, code, output: output.filter(one => one.trim() !== '') }];
  });

const stepsOf = (page: string): Step[] =>
  Array.from(page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm), ([, language = '', text = '']) => {
    if (language === 'console') return console(text);
    const path =
      /^(?:#|\/\/) ([\w./-]+)\n/.exec(text)?.[1] ?? /^#!.*\n# ([\w./-]+)\n/.exec(text)?.[1];
    return path === undefined ? [] : [{ kind: 'file' as const, path, text }];
  }).flat();

const guides = readdirSync(join(packageRoot, 'docs/guides'))
  .filter(name => name !== 'write-sls.md') // test/host/docs/sls-guide.test.ts runs it.
  .map(name => `docs/guides/${name}`);

/** Whether output matches: `…` matches anything, and any number matches a number. */
const pattern = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
      .replaceAll('…', '.*')
      .replace(/\d+/g, '\\d+')
      .replace(/\s+/g, '\\s+'),
  );

const connection = ['host', 'port', 'user', 'priv', 'sudo', 'proxy_jump'];

/** The page's roster, with the login of the test's own hosts. */
const rosterOf = (text: string, project: Project): string => {
  const hosts = Object.entries(toPlain(loadYaml(text)) as Record<string, unknown>);
  return JSON.stringify(
    Object.fromEntries(
      hosts.map(([id, entry]) => {
        const rest = typeof entry === 'object' && entry !== null ? Object.entries(entry) : [];
        return [
          id,
          {
            ...Object.fromEntries(rest.filter(([key]) => !connection.includes(key))),
            host: '127.0.0.1',
            port: project.hosts[id]?.server.port,
            user: 'tester',
            priv: project.key,
          },
        ];
      }),
    ),
  );
};

describe.each(['README.md', 'docs/getting-started.md', ...guides])('%s', name => {
  const page = readFileSync(join(packageRoot, name), 'utf8');
  const steps = stepsOf(page);
  const rosters = steps.flatMap(step =>
    step.kind === 'file' && step.path === 'roster.yaml' ? [step.text] : [],
  );
  const ids = [...new Set(rosters.flatMap(text => Object.keys(toPlain(loadYaml(text)) as object)))];
  let project: Project;

  beforeAll(async () => {
    project = await startProject({ hosts: ids.length > 0 ? ids : ['web1'] });
    if (/^\$ tsalt-ssh --accept-new-host-keys /m.test(page)) project.write({ known_hosts: '' });
    mkdirSync(join(project.dir, 'bin'));
    const bin = join(packageRoot, 'dist/tsalt-ssh.cjs');
    writeFileSync(
      join(project.dir, 'bin/tsalt-ssh'),
      `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`,
    );
    chmodSync(join(project.dir, 'bin/tsalt-ssh'), 0o755);
    symlinkSync(join(packageRoot, 'node_modules'), join(project.dir, 'node_modules'));
  });
  afterAll(() => project.close());

  const here = (text: string): string =>
    text.replaceAll('/tmp/tsalt-demo', join(project.dir, 'out'));

  const sh = (command: string): Promise<{ code: number; output: string }> =>
    new Promise(resolve => {
      const env = {
        ...process.env,
        HOME: join(project.dir, 'home'),
        SSH_AUTH_SOCK: '',
        NO_COLOR: '1',
        PATH: `${join(project.dir, 'bin')}:${process.env.PATH}`,
      };
      execFile('sh', ['-c', command], { cwd: project.dir, env }, (error, stdout, stderr) =>
        resolve({
          code: typeof error?.code === 'number' ? error.code : error ? 1 : 0,
          output: stdout + stderr,
        }),
      );
    });

  test('its files can be written and its commands print what it says', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    for (const step of steps) {
      if (step.kind === 'file') {
        const text =
          step.path === 'roster.yaml'
            ? rosterOf(step.text, project)
            : step.path === 'tsalt.yaml'
              ? `${step.text}\nknown_hosts_file: known_hosts\ncachedir: cache\n`
              : here(step.text);
        project.write({ [step.path]: text });
        continue;
      }
      const { code, output } = await sh(here(step.command));
      const shown = `$ ${step.command}\n${output}`;
      expect({ shown, code }).toEqual({ shown, code: step.code });
      const lines = output.split('\n').map(line => line.trim());
      const missing = step.output
        .map(here)
        .filter(line => !lines.some(one => pattern(line).test(one)));
      expect({ shown, missing }).toEqual({ shown, missing: [] });
    }
    expect(existsSync(join(project.dir, 'roster.yaml'))).toBe(true);
  });
});
