import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Plain, PlainDict } from '../../src/protocol/plain.ts';

export type Files = Readonly<Record<string, string>>;

export type GoldenCall = {
  readonly call: string;
  readonly mods?: Plain;
  readonly args?: readonly Plain[];
  readonly kwargs?: PlainDict;
};

export type Expectation = {
  readonly return?: Plain;
  readonly retcode?: number;
  readonly exception?: { readonly type: string; readonly message: string };
  readonly tmpdir?: PlainDict;
};

export type GoldenCase = {
  /** `topic/name`: how divergences.yaml names it. */
  readonly id: string;
  readonly topic: string;
  readonly files: Files;
  readonly pillarFiles: Files;
  readonly envs: Readonly<
    Record<string, { readonly files?: Files; readonly pillar_files?: Files }>
  >;
  /** TypeScript twins of the case's Python modules, by the same paths. */
  readonly twins: Files;
  readonly grains: PlainDict;
  readonly opts: PlainDict;
  readonly setup: Files;
  readonly steps: readonly GoldenCall[];
  readonly expected: readonly Expectation[];
  readonly tmpdir: PlainDict | undefined;
  /** Salt itself dies here: any clean error is an answer. */
  readonly saltBug: boolean;
};

type Raw = GoldenCall & {
  readonly name: string;
  readonly topic: string;
  readonly files?: Files;
  readonly pillar_files?: Files;
  readonly envs?: GoldenCase['envs'];
  readonly grains?: PlainDict;
  readonly opts?: PlainDict;
  readonly setup?: { readonly files?: Files };
  readonly steps?: readonly GoldenCall[];
  readonly salt_bug?: boolean;
  readonly expect: Expectation & { readonly steps?: readonly Expectation[] };
};

/** All cases below a folder, by id. */
export const readCases = (dir: string): GoldenCase[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.json') && !path.includes('.twins/'))
    .sort()
    .flatMap(path => readCase(join(dir, path)));

/** The grains every case starts from; a folder of cases may bring its own. */
export const readBaseGrains = (dir: string): PlainDict => {
  for (const folder of [dir, join(dir, '..'), join(import.meta.dirname, 'cases')])
    try {
      return JSON.parse(readFileSync(join(folder, 'base_grains.json'), 'utf8')) as PlainDict;
    } catch {}
  return {};
};

const readCase = (path: string): GoldenCase[] => {
  const raw = JSON.parse(readFileSync(path, 'utf8')) as Partial<Raw>;
  if (raw.expect === undefined || raw.topic === undefined || raw.name === undefined) return [];
  const steps = raw.steps ?? [{ ...raw, call: raw.call ?? '' }];
  return [
    {
      id: `${raw.topic}/${raw.name}`,
      topic: raw.topic,
      files: raw.files ?? {},
      pillarFiles: raw.pillar_files ?? {},
      envs: raw.envs ?? {},
      twins: readTwins(`${path.slice(0, -'.json'.length)}.twins`),
      grains: raw.grains ?? {},
      opts: raw.opts ?? {},
      setup: raw.setup?.files ?? {},
      steps,
      expected: raw.expect.steps ?? [raw.expect],
      tmpdir: raw.expect.tmpdir,
      saltBug: raw.salt_bug ?? false,
    },
  ];
};

const readTwins = (dir: string): Files => {
  try {
    const paths = readdirSync(dir, { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      paths
        .filter(entry => entry.isFile())
        .map(entry => {
          const path = join(entry.parentPath, entry.name);
          return [relative(dir, path), readFileSync(path, 'utf8')];
        }),
    );
  } catch {
    return {};
  }
};
