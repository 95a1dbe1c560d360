import { fnmatch } from '../../data/python/glob.ts';
import { cloneData } from '../../data/values/clone.ts';
import { updateDict } from '../../data/values/merge.ts';
import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, type Dict, isDict, toDict } from '../../data/values/value.ts';
import type { WrapperContext } from '../context.ts';
import { isTrueArgument, refused, type WrapperModule } from '../define.ts';

/** Salt's defaults. (salt.modules.config.DEFAULTS) */
const builtIn: Dict = toDict({
  'mongo.db': 'salt',
  'mongo.password': '',
  'mongo.port': 27017,
  'mongo.user': '',
  'redis.db': '0',
  'redis.host': 'salt',
  'redis.port': 6379,
  'test.foo': 'unconfigured',
  'ca.cert_base_path': '/etc/pki',
  'ldap.uri': '',
  'ldap.server': 'localhost',
  'ldap.port': '389',
  'ldap.tls': false,
  'ldap.no_verify': false,
  'ldap.anonymous': true,
  'ldap.scope': 2,
  'ldap.attrs': null,
  'ldap.binddn': '',
  'ldap.bindpw': '',
  'hosts.file': '/etc/hosts',
  'aliases.file': '/etc/aliases',
  virt: { tunnel: false, images: '/srv/salt-images' },
  'docker.exec_driver': 'docker-exec',
});

/** Returns the sources of a value, in order of precedence. */
const sources = async (ctx: WrapperContext, omit: (name: string) => boolean): Promise<Dict[]> => [
  ...(omit('omit_opts') ? [] : [ctx.opts, new Map([['grains', ctx.grains]])]),
  ...(omit('omit_grains') ? [] : [ctx.grains]),
  ...(omit('omit_pillar') ? [] : [await ctx.pillar()]),
  ...(omit('omit_master') ? [] : [ctx.masterOpts]),
  builtIn,
];

/** Looks up a path in all sources, merged from the lowest precedence up. */
const lookUpMerged = (
  all: readonly Dict[],
  key: string,
  delimiter: string,
  overwrites: boolean,
): Data | typeof noValue => {
  const [top = key] = key.split(delimiter);
  const merged: Dict = new Map();
  for (const source of [...all].reverse()) {
    const value = traverse(source, top, delimiter);
    if (value === noValue) continue;
    const layer: Dict = new Map([[top, value]]);
    if (overwrites) merged.set(top, value);
    else updateDict(merged, cloneData(layer) as Dict, false);
  }
  return traverse(merged, key, delimiter);
};

/** Parameters that are flags, in Salt's order. */
const flags = (...names: string[]) => names.map(name => [name, false] as const);

/** `config.*`: options, grains and pillar in one lookup, in Salt's order. */
export const config: WrapperModule = {
  doc: 'Values from the configuration: minion options, then grains, then pillar, then tsalt.yaml.',
  functions: {
    get: {
      doc: "The first value found for a key. `salt['config.get']('nginx:port', 80)`",
      params: [
        'key',
        ['default', ''],
        ['delimiter', ':'],
        ['merge', null],
        ...flags('omit_opts', 'omit_pillar', 'omit_master', 'omit_grains'),
      ],
      work: async ({ ctx, get, text, flag }) => {
        const all = await sources(ctx, flag);
        const strategy = get('merge');
        const delimiter = text('delimiter');
        if (strategy !== null) {
          const found = lookUpMerged(all, text('key'), delimiter, strategy === 'overwrite');
          return found === noValue ? get('default') : found;
        }
        for (const source of all) {
          const found = traverse(source, text('key'), delimiter);
          if (found !== noValue) return found;
        }
        return get('default');
      },
    },
    option: {
      doc: 'The value of one key, from options, grains, pillar and tsalt.yaml; no path. `wildcard` returns all matching keys.',
      params: [
        'value',
        ['default', null],
        ...flags('omit_opts', 'omit_grains', 'omit_pillar', 'omit_master', 'omit_all', 'wildcard'),
      ],
      work: async ({ ctx, get, text, flag }) => {
        const wildcard = flag('wildcard');
        const all = await sources(ctx, name => flag('omit_all') || flag(name));
        const fallback = get('default') ?? (wildcard ? new Map() : '');
        if (!wildcard)
          return (
            all.map(source => source.get(text('value'))).find(known => known !== undefined) ??
            fallback
          );
        const matching: Dict = new Map();
        for (const source of [...all].reverse())
          for (const [key, value] of source)
            if (fnmatch(String(key), text('value'))) matching.set(key, value);
        return matching.size > 0 ? matching : fallback;
      },
    },
    merge: {
      doc: 'All values of a key, merged: options over tsalt.yaml over pillar.',
      params: [
        'value',
        ['default', ''],
        ...flags('omit_opts', 'omit_master', 'omit_pillar'),
        ['omit_grains', true],
      ],
      work: async ({ ctx, get, text, flag }) => {
        const found = (await sources(ctx, flag))
          .map(source => source.get(text('value')))
          .filter(item => item !== undefined && item !== null);
        const first = found[0];
        if (first === undefined) return get('default');
        if (Array.isArray(first)) return found.filter(Array.isArray).flat();
        if (!isDict(first)) return first;
        const merged: Dict = new Map();
        for (const layer of found.filter(isDict).reverse())
          for (const [key, value] of layer) merged.set(key, value);
        return merged;
      },
    },
    dot_vals: {
      doc: 'All values whose key begins with `name.`.',
      params: ['value'],
      work: async ({ ctx, text }) => {
        const found: Dict = new Map();
        for (const source of [await ctx.pillar(), ctx.opts])
          for (const [key, item] of source)
            if (String(key).startsWith(`${text('value')}.`)) found.set(key, item);
        return found;
      },
    },
    items: { doc: 'All options of the run.', params: [], work: ({ ctx }) => ctx.opts },
    gather_bootstrap_script: refused(
      'config.gather_bootstrap_script',
      'Not supported: hosts need no Salt, and tsalt-ssh provides its own runtime.',
      'a host needs no Salt, and no bootstrap',
    ),
    manage_mode: {
      doc: 'A file mode as text with leading zero, as states write it.',
      params: ['mode'],
      work: ({ get }) => {
        const mode = get('mode');
        if (mode === null) return null;
        const text = typeof mode === 'number' ? String(mode) : String(mode).replace(/['"]/g, '');
        return text.replace('0o', '0').replace(/^0+/, '').padStart(4, '0');
      },
    },
    backup_mode: {
      doc: 'The backup mode: the argument, or the option `backup_mode`.',
      params: [['backup', '']],
      work: ({ ctx, get }) =>
        isTrueArgument(get('backup')) || (get('backup') ?? '') !== ''
          ? get('backup')
          : (ctx.opts.get('backup_mode') ?? ''),
    },
    valid_fileproto: {
      doc: 'Whether a URL has a scheme that file states can read.',
      params: ['uri'],
      work: ({ text }) => /^(?:salt|https?|ftp|file|s3|swift):\/\//i.test(text('uri')),
    },
  },
};
