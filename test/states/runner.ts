import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { discoverBuiltins } from '../../src/bundle/discover.ts';
import { toData, toPlain } from '../../src/data/values/value.ts';
import {
  type ControlLink,
  type FunctionTable,
  Kwargs,
  type ModuleContext,
  type ModuleFunction,
  type Plain,
  type PlainDict,
  type StateReturn,
  withContext,
} from '../../src/modules/api.ts';
import { TsaltError } from '../../src/protocol/error.ts';
import type { ControlMethods, FileResponse } from '../../src/protocol/job.ts';
import { deserialize, serialize } from '../../src/wrapper/functions/serializers.ts';
import { packOne } from '../helpers/pack-one.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

/** A host for module tests: the real modules, a scratch folder, and files of a control node. */
export type TestHost = {
  readonly root: string;
  readonly control: Map<string, string | Buffer>;
  readonly asked: string[];
  readonly call: (fun: string, ...args: unknown[]) => Promise<unknown>;
  readonly state: (fun: string, name: string, ...args: unknown[]) => Promise<StateReturn>;
  readonly test: (fun: string, name: string, ...args: unknown[]) => Promise<StateReturn>;
  readonly with: (changes: Partial<ModuleContext>) => TestHost;
  /** Does something in the context of the host's modules. */
  readonly within: <T>(work: () => T) => T;
  readonly file: (path: string) => string;
  readonly write: (path: string, content: string | Buffer, mode?: number) => string;
  readonly remove: () => void;
};

const builtins = discoverBuiltins(join(import.meta.dirname, '../..')).modules;

/** Functions of all built-in modules of a kind, loaded when they are first called. */
const table = (kind: 'exec' | 'state', extra: Record<string, ModuleFunction>): FunctionTable => {
  const lazily = (fun: string): ModuleFunction | undefined => {
    const [module = '', name = ''] = fun.split('.');
    const files = candidates(kind, module);
    if (files.length === 0) return undefined;
    return async (...args) => {
      for (const file of files) {
        const loaded = await import(pathToFileURL(file).href);
        const found = loaded[name] ?? loaded[`${name}_`];
        if (typeof found !== 'function') continue;
        const last = args.at(-1);
        return last instanceof Kwargs ? found(...args.slice(0, -1), last.values) : found(...args);
      }
      throw new Error(`${fun} is not there`);
    };
  };
  return new Proxy(extra, {
    get: (own, key) => own[String(key)] ?? lazily(String(key)),
    has: (own, key) =>
      String(key) in own || candidates(kind, String(key).split('.')[0]!).length > 0,
  });
};

const candidates = (kind: string, module: string): readonly string[] =>
  [module, `${module}_manage`].flatMap(
    name => builtins.find(found => found.kind === kind && found.name === name)?.files ?? [],
  );

export const makeHost = ({
  opts = {},
  grains = {},
  pillar = {},
  salt = {},
}: {
  opts?: PlainDict;
  grains?: PlainDict;
  pillar?: PlainDict;
  salt?: Record<string, ModuleFunction>;
} = {}): TestHost => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-state-'));
  const files = new Map<string, string | Buffer>();
  const asked: string[] = [];
  const context: ModuleContext = {
    salt: table('exec', {
      'pillar.get': lookUp(pillar),
      'grains.get': lookUp(grains),
      ...slsutil,
      ...salt,
    }),
    states: table('state', {}),
    utils: {},
    grains,
    pillar,
    opts: { id: 'test', test: false, saltenv: 'base', cachedir: join(root, '.cache'), ...opts },
    context: {},
    env: 'base',
    log: () => {},
    control: controlNode(files, asked),
  };
  return hostOf(context, root, files, asked);
};

const hostOf = (
  context: ModuleContext,
  root: string,
  control: Map<string, string | Buffer>,
  asked: string[],
): TestHost => {
  const testing = { ...context, opts: { ...context.opts, test: true } };
  const run = <T>(where: ModuleContext, kind: 'salt' | 'states', fun: string, args: unknown[]) =>
    withContext(where, () => where[kind][fun]!(...args)) as Promise<T>;
  return {
    root,
    control,
    asked,
    call: (fun, ...args) => run(context, 'salt', fun, args),
    state: (fun, name, ...args) => run(context, 'states', fun, [name, ...args]),
    test: (fun, name, ...args) => run(testing, 'states', fun, [name, ...args]),
    with: changes => hostOf({ ...context, ...changes }, root, control, asked),
    within: work => withContext(context, work),
    file: path => readFileSync(join(root, path), 'utf8'),
    write: (path, content, mode = 0o644) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content, { mode });
      return join(root, path);
    },
    remove: () => removeFolder(root),
  };
};

/** A host's calls to the control node, with the control node's own functions. */
const slsutil: Record<string, ModuleFunction> = {
  'slsutil.deserialize': async (format, text) =>
    toPlain(deserialize(String(format), String(text), new Map())),
  'slsutil.serialize': async (format, data) =>
    serialize(String(format), toData(data as Plain), new Map()),
};

const lookUp =
  (data: PlainDict): ModuleFunction =>
  async (key, fallback = '', options = {}) => {
    const { delimiter = ':' } = options as { delimiter?: string };
    let value: unknown = data;
    for (const part of String(key).split(delimiter)) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
        return fallback;
      value = (value as Record<string, unknown>)[part];
    }
    return value;
  };

const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

const sendMany = (
  files: Map<string, string | Buffer>,
  { items }: ControlMethods['file.getMany'],
  sink?: (bytes: Uint8Array) => void,
): void => {
  for (const [name, saltenv] of items) {
    const content = saltenv === undefined ? undefined : files.get(name);
    sink?.(packOne(content === undefined ? undefined : Buffer.from(content)));
  }
};

/** Answers as the control node does; `{{ name }}` in a template is replaced from the context. */
const controlNode = (files: Map<string, string | Buffer>, asked: string[]): ControlLink => ({
  request: async <T>(method: string, params: unknown, sink?: (bytes: Uint8Array) => void) => {
    const { path, source, text, have, context, hashes } = params as Record<string, never> & {
      context?: Record<string, unknown>;
      hashes?: boolean;
    };
    // The host then sends the arguments of the template, which this control node does not know.
    if (method === 'file.render') throw new TsaltError('template-unknown', 'unknown');
    asked.push(method === 'file.renderComputed' ? 'file.render' : method);
    if (method === 'file.list') {
      const prefix = path === '' ? '' : `${path}/`;
      const names = [...files.keys()]
        .filter(name => name.startsWith(prefix))
        .map(name => name.slice(prefix.length))
        .sort();
      if (hashes !== true) return names as T;
      const listed = names.map(name => {
        const content = files.get(`${prefix}${name}`) ?? '';
        return [name, Buffer.byteLength(content), 0o755, sha256(content)];
      });
      sink?.(Buffer.from(`${JSON.stringify(listed)}\n`));
      return null as T;
    }
    if (method === 'file.getMany') {
      sendMany(files, params as ControlMethods['file.getMany'], sink);
      return null as T;
    }
    const key = path ?? String(source).replace('salt://', '');
    const raw = text ?? files.get(key);
    if (raw === undefined) return { found: false } as T;
    const content =
      method === 'file.renderComputed'
        ? String(raw).replace(/\{\{ (\w+) \}\}/g, (_, name) => String(context?.[name] ?? ''))
        : raw;
    const hash = sha256(content);
    const size = Buffer.byteLength(content);
    const answer: FileResponse = { found: true, sha256: hash, size, mode: 0o755 };
    if (have === hash) return { ...answer, same: true } as T;
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; at += 65_536) sink?.(bytes.subarray(at, at + 65_536));
    return answer as T;
  },
});

/** Everything below a folder: kind, mode, owner, time of change, content. */
export const snapshot = (root: string): Record<string, string> => {
  const seen: Record<string, string> = {};
  const look = (path: string): void => {
    const stats = lstatSync(path);
    const what = stats.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : stats.isFile()
        ? sha256(readFileSync(path))
        : stats.isDirectory()
          ? 'dir'
          : 'other';
    const mode = (stats.mode & 0o7777).toString(8);
    seen[path.slice(root.length) || '/'] =
      `${mode} ${stats.uid}:${stats.gid} ${stats.mtimeMs} ${what}`;
    if (stats.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(root);
  return seen;
};
