import { createHash } from 'node:crypto';
import { renderIdentity } from '../../src/protocol/render-identity.ts';
import { controlFunctions } from '../../src/wrapper/table.ts';
import { frameOf } from './memory-host.ts';
import { seeded } from './random.ts';

/** Draws values from a seed: the same seed draws the same. */
export type Dice = {
  readonly below: (count: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
};

export const dice = (seed: number): Dice => {
  const random = seeded(seed);
  const below = (count: number): number => Math.floor(random() * count);
  return {
    below,
    chance: share => random() < share,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
  };
};

type Json = unknown;
type Fields = Record<string, Json>;

/** Written into a message as it is, without quotes. */
const raw = (text: string): string => `@raw:${text}@`;

const numbers = [
  ...[0, 1, 2, -1, 0.5, 255, 65536, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 5e-324],
  ...['-0', '1e308', '1e999', '-1e999', '0.1e-400', '123456789012345678901234567890'].map(raw),
];

const prototypeNames = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'toJSON'],
  ...['then', 'length', 'size', 'get', 'polluted', '__class__', '__globals__'],
];

const syntax = [
  ...[
    '{{ 7 * 7 }}',
    '{% raw %}',
    '{% endif %}',
    '{%',
    '{{',
    '}}',
    '{#',
    '#}',
    "{{ ''.__class__ }}",
  ],
  ...["{{ salt['cp.get_file_str']('salt://db/other.txt') }}", '{% include "db/other.txt" %}'],
  ...["{{ salt['pillar.get']('secret') }}", "{% import 'db/other.txt' as x %}{{ x }}"],
  ...[
    '${7 * 7}',
    '<%! import os %>',
    '<% x %>',
    '{% render "db/other.txt" %}',
    '#!py',
    '#!mako|yaml',
  ],
  ...['\n- template: mako', '\n    - source: salt://db/other.txt', ': ', ' #', '- a', '&a', '*a'],
  ...['!!python/object:os.system', '"', "'", '\\', '|', '>', '%', '@', '`', '---', '...', '? a'],
  ...['\t', '\n', '\r\n', '\u0085', '\u2028', '\u202e', '\u0000', '\u001b[2J', '\ufeff', '\ud800'],
  ...['a: b', '[a', '{a', 'null', '~', 'yes', '0o17', '1_000', '12:30:45', '.nan', '.inf', '1e3'],
  ...['%(a)s', '%s', '{0.__class__}', '${a}', '$(id)', '; id', '|id', '../', '..\\', '//', 'é'],
  ...['include:\n  - db', 'base:\n  "*":\n    - db', '(a+)+$', '(?:a|a)*b', '[', '(', 'E@(a+)+$'],
  ...['sdb://secrets/web1', 'salt://db/other.txt', 'file:///etc/passwd', 'http://127.0.0.1:1/'],
];

export const namedPaths = [
  ...['salt://web/app.conf.j2', 'salt://web/page.liquid', 'salt://web/plain.txt'],
  ...['salt://web/dir', 'salt://web/dir/one.txt', 'salt://web/dir/two.j2'],
];
const otherPaths = [
  ...['salt://db/other.txt', 'salt://site.sls', 'salt://top.sls', 'salt://', 'salt://web'],
  ...['salt://../outside.txt', 'salt://web/dir/../../db/other.txt', 'salt:///etc/passwd'],
  ...['salt://web/dir/../../../outside.txt', 'salt://../pillar/web1.sls', '/etc/passwd', ''],
  ...[
    'salt://only.txt?saltenv=dev',
    'salt://%2e%2e/outside.txt',
    'salt://web\\..\\..\\outside.txt',
  ],
  ...['salt://web/dir\u0000/../../outside.txt', 'salt://./../states/../outside.txt', 'outside.txt'],
  ...['salt://web/dir/leak', 'salt://|db/other.txt', 'salt://web/dirx', 'salt://constructor'],
];

/** Files that exist and that no state of the fuzzed project names. */
const canaries = [
  ...['salt://db/other.txt', 'salt://db.sls', 'salt://../outside.txt', 'salt://web/dir/leak'],
  ...['salt://only.txt', 'salt://web/leak', 'salt://../pillar/web1.sls', 'salt://db'],
];

/** Only the host can read this one. */
const ownTemplates = ['/srv/own.j2', '/srv/own.liquid'];

/** The templates of the fuzzed project, with the hash that refers to each. */
const templates = [
  { source: 'salt://web/app.conf.j2', template: 'jinja', part: 'app', state: '/etc/app.conf' },
  { source: 'salt://web/page.liquid', template: 'liquid', state: '/etc/page' },
  { source: 'salt://web/dir/two.j2', template: 'jinja', state: '/srv/dir' },
  { source: '/srv/own.liquid', template: 'liquid', state: '/etc/own-page' },
  { source: '/srv/own.j2', template: 'jinja', state: '/etc/own' },
].map(({ source, template, part, state }) => {
  const context: Record<string, string> = part === undefined ? {} : { part };
  const identity = renderIdentity({ source, saltenv: 'base', template, context }, state);
  const key = createHash('sha256').update(identity).digest('hex');
  return { source, template, context, state, key };
});

const places = ['path', 'saltenv'];
const computed = ['source', 'saltenv', 'template', 'text'];

const heavy = [
  '{% for a in range(1000000) %}{% for b in range(1000000) %}x{% endfor %}{% endfor %}',
  "{{ 'a' * 1000000000 }}",
  "{{ ('a' * 40) | regex_match('(a+)+$') }}",
  "{{ range(300000) | map('string') | list | tojson | length }}",
  '{{ range(300000) | list | batch(2) | list | length }}',
  "{{ ('[' * 10000) | load_json }}",
  "{{ ('[' * 10000) | load_yaml }}",
  "{{ ('<a>' * 10000) | xml_escape | striptags | length }}",
  "{{ ('http://a.b ' * 50000) | urlize | length }}",
  "{{ {'a': 1} | json_query('a' ~ '|a' * 5000) }}",
  "{{ range(100000) | list | json_query('sort(@)') | length }}",
  "{{ '%s' | format(*range(100000)) }}",
  '{% set ns = namespace(a="x") %}{% for i in range(40) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a }}',
  '{% for i in range(200000) recursive %}{% if i < 3 %}{{ loop([i]) }}{% endif %}{% endfor %}',
  '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  '{{ range(100000000) | list }}',
  '{{ 9 ** 99999999 }}',
  "{{ '%0999999999d' % 1 }}",
  "{{ 'x'.ljust(999999999) }}",
  '{% set a = [] %}{% for i in range(30) %}{% set a = [a, a] %}{% endfor %}{{ a }}',
  `${'{% if 1 %}'.repeat(2000)}x${'{% endif %}'.repeat(2000)}`,
  `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`,
  `{{ ${'['.repeat(3000)} }}`,
  `{{ 1${' + 1'.repeat(20000)} }}`,
  `{{ x${'|upper'.repeat(5000)} }}`,
  "{{ ('a b ' * 45000).split() | sort | length }}",
  "{{ ('a b ' * 45000).split() | unique | list | length }}",
  "{{ ('a ' * 500000) | wordwrap(1) | length }}",
  "{{ ('ab' * 500000) | replace('a', 'ccc') | length }}",
  "{{ ('- [1, 2, {a: b}]\n' * 15000) | load_yaml | length }}",
  // Liquid, where the template is one of that.
  '{% for i in (1..3000000) %}{% endfor %}',
  '{% assign a = (1..5000000) %}{{ a | size }}',
  "{% assign a = 'a,a' | split: ',' %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}",
  "{% assign a = 'ab' %}{% for i in (1..20) %}{% assign a = a | append: a %}{% endfor %}{{ a | replace: 'a', 'ccc' | split: '' | sort | uniq | size }}",
];

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, at, all) => {
    const before = all[at - 1] ?? 'a';
    return `${name}: &${name} [${Array(9).fill(`*${before}`)}]\n`;
  })
  .join('')}`;

/** The functions that hosts may call, and some that they may not. */
const functions = [
  ...controlFunctions().map(({ name }) => name),
  ...['state.apply', 'sdb.get', 'vault.read_secret', 'pillar.ext', 'slsutil.renderer', 'cp.push'],
  ...['cp.get_file_str', 'grains.setval', 'cmd.run', 'test.ping', 'state.single', 'saltutil.cmd'],
  ...['config.__proto__', '__proto__.get', 'constructor.constructor', 'pillar', '.', 'pillar.', ''],
];

/** Makes what a hostile host could send. Numbers, names and paths are those of the fuzzed project. */
export class WireFuzz {
  readonly #dice: Dice;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A text that contains something with a meaning in another format. */
  text(): string {
    const { below, chance, pick } = this.#dice;
    if (chance(0.01)) return pick(['a', 'é', '{{', '- ', '\n', '(a+)+']).repeat(1 + below(20_000));
    const parts = Array.from({ length: 1 + below(4) }, () =>
      pick([
        () => pick(syntax),
        () => pick(['a', 'web1', 'x y', '1', '']),
        () => pick(prototypeNames),
      ])(),
    );
    return parts.join(pick(['', ' ', '\n', ' ~ ']));
  }

  scalar(): Json {
    const { chance, pick } = this.#dice;
    return pick<() => Json>([
      () => this.text(),
      () => pick(numbers),
      () => null,
      () => chance(0.5),
      () => pick([...namedPaths, ...otherPaths]),
    ])();
  }

  value(depth = 3): Json {
    const { below, chance, pick } = this.#dice;
    if (chance(0.003)) return deep(pick([20, 60, 64, 65, 150]), pick(['list', 'dict']));
    if (chance(0.002)) return Array(pick([1000, 20_000])).fill(pick([0, 'x', null]));
    if (depth === 0 || chance(0.5)) return this.scalar();
    if (chance(0.5)) return Array.from({ length: below(4) }, () => this.value(depth - 1));
    return this.dict(depth);
  }

  dict(depth = 3): Fields {
    const { below } = this.#dice;
    return Object.fromEntries(
      Array.from({ length: below(5) }, () => [this.#key(), this.value(depth - 1)]),
    );
  }

  #key(): string {
    const { pick } = this.#dice;
    return pick([
      () => pick(prototypeNames),
      () => pick(['os', 'name', 'a', 'b', 'value', 'secret', 'role', 'id', 'pillar', 'grains']),
      () => this.text(),
      () => pick(['\u0000', '', '0', '-1', '1', 'a:b']),
    ])();
  }

  /** Grains: mostly like those of a host, with some that break out of what they are printed into. */
  grains(share: number): Fields {
    const { chance } = this.#dice;
    const like: Fields = { os: 'Debian', host: 'bad', role: 'web', ips: ['10.0.0.1'], num_cpus: 2 };
    for (const name of Object.keys(like)) if (chance(share)) like[name] = this.value();
    return chance(share) ? { ...like, ...this.dict() } : like;
  }

  /** A request that the control node should answer or refuse, without an end of the wire. */
  request(): { method: string; params: Json } {
    const { chance, pick } = this.#dice;
    const method = pick([
      ...['file.get', 'file.getMany', 'file.list', 'file.render', 'file.renderComputed'],
      'file.push',
      ...['control.grains', 'control.call', 'control.call', 'control.call', 'other'],
    ] as const);
    const params = {
      'file.get': () => this.#get(),
      'file.getMany': () => this.#getMany(),
      'file.list': () => ({
        path: this.#path(),
        saltenv: 'base',
        ...(chance(0.5) ? { hashes: chance(0.5) } : {}),
      }),
      'file.render': () => this.#render(),
      'file.renderComputed': () => this.#computed(),
      'file.push': () => this.#push(),
      'control.grains': () => ({ grains: this.grains(0.3) }),
      'control.call': () => this.#call(),
      other: () => this.value(),
    }[method]();
    if (method === 'other') return { method: this.#key(), params };
    // Other files and texts end the run: see `last`.
    const kept = {
      'file.get': places,
      'file.getMany': ['items'],
      'file.list': places,
      'file.render': ['key'],
      'file.renderComputed': computed,
    };
    const changed = (): Json =>
      this.mutated(params as Fields, method in kept ? kept[method as keyof typeof kept] : []);
    return { method, params: chance(0.4) ? changed() : params };
  }

  /** A value with one to three fields changed, added or taken away, all but those named. */
  mutated(fields: Fields, kept: readonly string[] = []): Json {
    const { below, chance, pick } = this.#dice;
    if (kept.length === 0 && chance(0.05)) return this.value();
    let changed = { ...fields };
    for (let count = 1 + below(3); count > 0; count--) {
      const name = chance(0.8) ? pick(Object.keys(fields)) : this.#key();
      if (kept.includes(name)) continue;
      const was = changed[name];
      const now = pick<() => Json>([
        () => this.value(),
        () => this.scalar(),
        () => [was],
        () => ({ [this.#key()]: was }),
        () => undefined,
        () =>
          typeof was === 'object' && was !== null && !Array.isArray(was)
            ? this.mutated({ a: 1, ...(was as Fields) })
            : this.scalar(),
      ])();
      changed = Object.fromEntries([...Object.entries(changed), [name, now]]);
    }
    return changed;
  }

  #path(): string {
    const { pick } = this.#dice;
    const path = pick(namedPaths);
    return pick([path, path, path.replace('salt://', ''), path.replace('web/', 'web//./')]);
  }

  #get(): Fields {
    const { chance } = this.#dice;
    return {
      path: this.#path(),
      saltenv: 'base',
      ...(chance(0.2) ? { have: this.scalar() } : {}),
      ...(chance(0.2) ? { peek: this.scalar() } : {}),
    };
  }

  #getMany(): Fields {
    const { below, chance, pick } = this.#dice;
    const item = (): Json => (chance(0.3) ? [pick(templates).key] : [this.#path(), 'base']);
    return { items: Array.from({ length: below(6) }, item) };
  }

  /** A template of the fuzzed project by its reference. */
  #render(): Fields {
    const { chance, pick } = this.#dice;
    const { key, source } = pick(templates);
    return {
      key,
      ...(ownTemplates.includes(source) || chance(0.03) ? { text: this.template() } : {}),
      ...(chance(0.1) ? { accumulator: this.dict() } : {}),
      ...(chance(0.2) ? { have: this.text() } : {}),
    };
  }

  /** A template that a module of the user could have computed. */
  #computed(): Fields {
    const { chance, pick } = this.#dice;
    const { source, template, context, state } = pick([...templates, ...templates.slice(-1)]);
    return {
      source,
      saltenv: 'base',
      template,
      context: chance(0.3) ? this.dict() : context,
      chunk: { name: state, ...(chance(0.2) ? this.dict(1) : {}) },
      ...(ownTemplates.includes(source) ? { text: this.template() } : {}),
      ...(chance(0.2) ? { have: this.text() } : {}),
    };
  }

  /** A template as a hostile host writes it. */
  template(): string {
    const { chance, pick } = this.#dice;
    if (chance(0.02)) return pick(heavy);
    return pick([
      () => this.text(),
      () => `{{ ${this.#expression(3)} }}`,
      () => `{% for a in ${this.#expression(2)} %}{{ ${this.#expression(2)} }}{% endfor %}`,
      () => `{% if ${this.#expression(2)} %}${this.text()}{% endif %}`,
      () => `{% set a = ${this.#expression(3)} %}{{ a }}`,
      () => `{% do ${this.#expression(2)} %}`,
      () => `{{ salt['${pick(functions)}'](${this.#expression(1)}) }}`,
    ])();
  }

  #expression(depth: number): string {
    const { pick } = this.#dice;
    if (depth === 0)
      return pick([
        ...['grains', 'pillar', 'opts', 'salt', 'a', 'loop', 'self', 'none', '1', '-1', '0.5'],
        ...[
          "''",
          "'a'",
          '[]',
          '{}',
          '[1, 2]',
          "{'a': 1}",
          'range(9)',
          'namespace()',
          "grains['os']",
        ],
      ]);
    const inner = (): string => this.#expression(depth - 1);
    return pick([
      () =>
        `${inner()}.${pick([...prototypeNames, 'items', 'keys', 'format', 'join', 'append', 'a'])}`,
      () => `${inner()}[${inner()}]`,
      () => `${inner()}(${inner()})`,
      () =>
        `${inner()} ${pick(['+', '-', '*', '/', '//', '%', '**', '~', '==', '<', 'in', 'and'])} ${inner()}`,
      () =>
        `${inner()} | ${pick([
          ...[
            'upper',
            'list',
            'length',
            'tojson',
            'yaml',
            'sort',
            'unique',
            'join',
            'first',
            'sum',
          ],
          ...['batch(2)', 'map("upper")', 'groupby("a")', 'regex_replace("a", "b")', 'dictsort'],
          ...['round', 'int', 'float', 'xmlattr', 'pprint', 'json', 'load_yaml', 'center(50)'],
          ...['truncate(1)', 'wordwrap(1)', 'indent', 'slice(3)', 'random', 'attr("__class__")'],
        ])}`,
      () => `(${inner()} if ${inner()} else ${inner()})`,
    ])();
  }

  #push(): Fields {
    const { chance, pick } = this.#dice;
    const size = pick([0, 1, 3, 1000, 5_000_000]);
    return {
      path: chance(0.5) ? ['etc', 'x'] : pick([['..', 'x'], ['a', '..'], [], ['/'], [this.text()]]),
      offset: pick([0, 0, 0, 3, -1]),
      size,
      data: pick([Buffer.alloc(Math.min(size, 3)).toString('base64'), '!!!', this.text()]),
    };
  }

  #call(): Fields {
    const { below, chance, pick } = this.#dice;
    const fun = pick(functions);
    const args = Array.from({ length: below(4) }, () =>
      pick<() => Json>([
        () => this.value(),
        () =>
          pick(['secret', 'role', 'a:b', 'base', '*', 'G@os:Debian', 'master:cachedir', 'web1']),
        () => pick(['yaml', 'json', 'toml', 'python', 'msgpack', 'yamlex', 'configparser']),
        () => (chance(0.05) ? bomb : this.text()),
        () => (chance(0.1) ? this.large() : this.dict()),
      ])(),
    );
    const kwargs = chance(0.3)
      ? Object.fromEntries(
          Array.from({ length: 1 + below(3) }, () => [
            pick([
              'key',
              'default',
              'merge',
              'delimiter',
              'saltenv',
              'serializer',
              'obj',
              'tgt',
              'a',
              'merge_lists',
              'strategy',
            ]),
            pick<() => Json>([
              () => this.value(),
              () => true,
              () => pick(['smart', 'recurse', 'aggregate', 'list', 'overwrite']),
            ])(),
          ]),
        )
      : {};
    return { fun, args, kwargs };
  }

  /** The maximum that a host may pass to a function, in various forms. */
  large(): Json {
    const { below, pick } = this.#dice;
    const count = pick([2000, 6000, 9500]);
    const list = (make: (at: number) => Json, length = count): Json[] =>
      Array.from({ length }, (_, at) => make(at));
    return pick<() => Json>([
      () => list(at => ({ [`k${at}`]: at })),
      () => list(at => ({ a: [at] }), count / 4),
      () => list(at => ({ a: { [`k${at}`]: {} } }), count / 4),
      () => list(at => at),
      () => list(at => `s${at}`),
      () => Object.fromEntries(list(at => [`k${at}`, at]) as [string, Json][]),
      () => ({ a: list(at => ({ a: at }), count / 2) }),
      () => deep(pick([20, 60]), pick(['list', 'dict'])),
      () =>
        pick(['a', '*a', ' ', '- a\n', 'a: b\n', '[', '"', 'a and ', '(']).repeat(below(60_000)),
    ])();
  }

  /** An event that an honest host could send, with odd contents where any are allowed. */
  event(): { name: string; payload: Json } {
    const { chance, pick } = this.#dice;
    const tag = chance(0.5)
      ? 'file_|-app_|-/etc/app.conf_|-managed'
      : pick([...prototypeNames, this.text()]);
    const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];
    return pick<() => { name: string; payload: Json }>([
      () => ({
        name: 'log',
        payload: {
          level: pick(levels),
          module: this.text(),
          message: this.text(),
          ...(chance(0.2) ? { stack: this.value() } : {}),
        },
      }),
      () => ({
        name: 'state-start',
        payload: { tag, id: this.text(), fun: this.text(), name: this.value(1) },
      }),
      () => ({
        name: 'output',
        payload: {
          tag,
          stream: pick(['stdout', 'stderr']),
          text: this.text(),
          ...(chance(0.2) ? { dropped: pick([1, 255, 2 ** 53 - 1]) } : {}),
        },
      }),
      () => ({
        name: 'state',
        payload: {
          tag,
          result: {
            result: pick([true, false, null]),
            comment: chance(0.5) ? this.text() : this.value(),
            changes: this.dict(),
            name: this.value(1),
            ...(chance(0.3) ? { duration: pick(numbers), __run_num__: pick(numbers) } : {}),
            ...(chance(0.3) ? { start_time: this.text(), __id__: this.text() } : {}),
            ...(chance(0.2) ? this.dict() : {}),
          },
          ...(chance(0.1) ? { event: this.text() } : {}),
        },
      }),
      () => ({ name: pick(['ping', 'pong']), payload: this.value() }),
    ])();
  }

  /** A request for a file that exists and that the run does not name. */
  other(): { method: string; params: Json } {
    const { pick } = this.#dice;
    const method = pick(['file.get', 'file.getMany', 'file.list', 'file.renderComputed']);
    const source = pick(canaries);
    const saltenv = source.includes('only.txt') ? 'dev' : 'base';
    return {
      method,
      params: {
        ...this.#computed(),
        ...{ text: undefined, source, path: source, saltenv, items: [[source, saltenv]] },
      },
    };
  }

  /**
   * Messages that may end the wire: broken frames, answers without a request, other files, too much
   * at once.
   */
  last(nextId: () => number): Buffer {
    const { below, chance, pick } = this.#dice;
    const request = (method: string, params: Json): Buffer =>
      this.frame({ t: 'req', id: nextId(), method, params });
    const bytes = (): Buffer => Buffer.from(Array.from({ length: below(60) }, () => below(256)));
    const path = (): Json => (chance(0.8) ? pick([...otherPaths, ...canaries]) : this.value());
    if (chance(0.5))
      return pick<() => Buffer>([
        () => request('file.get', { path: path(), saltenv: pick(['base', 'dev', this.value(1)]) }),
        () => request('file.list', { path: path(), saltenv: pick(['base', 'dev', '', 'base']) }),
        () => request('file.renderComputed', { ...this.#computed(), source: path() }),
        () =>
          request('file.renderComputed', {
            ...this.#computed(),
            template: pick(['mako', 'py', 'wempy', 'jinja|mako']),
          }),
        () => request('file.renderComputed', { ...this.#computed(), text: this.template() }),
        () => request('file.render', { ...this.#render(), key: this.scalar() }),
        () => request(pick(['file.get', 'file.list', 'file.render']), this.mutated(this.#render())),
      ])();
    return pick<() => Buffer>([
      () => this.frame({ t: 'evt', name: this.#key(), payload: this.value() }),
      () => {
        const { name, payload } = this.event();
        return this.frame({ t: 'evt', name, payload: this.mutated((payload ?? {}) as Fields) });
      },
      () => this.frame({ t: 'evt', name: 'hello', payload: this.value() }),
      () => {
        const payload = { tag: this.text(), stream: 'stdout', text: this.text() };
        const odd = pick([{ stream: 'stdin' }, { dropped: this.value(1) }, { dropped: -1 }]);
        return this.frame({ t: 'evt', name: 'output', payload: { ...payload, ...odd } });
      },
      () => this.frame({ t: 'req', id: pick(numbers), method: 'file.get', params: this.#get() }),
      () => this.frame({ t: 'req', id: this.value(), method: this.value(), params: this.value() }),
      () =>
        this.frame({
          t: pick(['res', 'end', 'stop']),
          id: pick([...numbers, 1, 2, 3]),
          value: this.value(),
        }),
      () => this.frame({ t: 'res', id: 1 + below(4), content: true, value: this.value() }),
      () => this.frame({ t: 'res', id: 1 + below(4), error: this.value() }),
      () => this.frame(this.value()),
      () =>
        this.frame(
          this.mutated({ t: 'req', id: nextId(), method: 'file.get', params: this.#get() }),
        ),
      () => frameOf(2, Buffer.concat([Buffer.from([0, 0, 0, below(9)]), bytes()])),
      () => frameOf(2, bytes().subarray(0, 3)),
      () => frameOf(below(256), bytes()),
      () =>
        frameOf(
          pick([1, 2, 4, 5]),
          bytes(),
          pick([0, 1, 2 ** 20, 2 ** 20 + 5, 2 ** 31, 2 ** 32 - 1]),
        ),
      () =>
        frameOf(
          pick([1, 4]),
          Buffer.concat([Buffer.from('{"t":"evt","name":"'), bytes(), Buffer.from('"}')]),
        ),
      () =>
        frameOf(
          1,
          Buffer.from(pick(['{"t":', '[', '"', '{"t":"req","id":1', '\ufeff{}', 'null', ''])),
        ),
      () =>
        frameOf(
          pick([1, 4]),
          Buffer.from(
            `{"t":"evt","name":"pong","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
          ),
        ),
      () =>
        frameOf(
          4,
          Buffer.from(
            '{"t":"evt","name":"log","payload":{"\\u0000":[["a",1],["__proto__",{"\\u0000":2}]]}}',
          ),
        ),
      () =>
        Buffer.concat(
          Array(pick([3, 100])).fill(frameOf(5, Buffer.alloc(pick([0, 10, 100_000]), '['))),
        ),
      () => Buffer.concat(Array.from({ length: 300 }, () => request('file.get', this.#get()))),
      () => {
        const frame = this.frame({
          t: 'req',
          id: nextId(),
          method: 'file.get',
          params: this.#get(),
        });
        return Buffer.concat([frame, frame]);
      },
      () => bytes(),
    ])();
  }

  /** The answer to a call of the control node. */
  result(): Json {
    const { chance, pick } = this.#dice;
    if (chance(0.95)) return { value: this.value(), retcode: chance(0.9) ? 0 : pick([1, 2, -1]) };
    return chance(0.5) ? this.value() : this.mutated({ value: this.value(), retcode: 0 });
  }

  /** The answer to a run. A restart is one that is waited for a second at most. */
  ran(): Json {
    const { chance, pick } = this.#dice;
    if (chance(0.6)) return { retcode: pick([0, 2, 1]) };
    if (chance(0.2))
      return {
        retcode: pick(numbers),
        restart: {
          tag: this.text(),
          boot: this.text(),
          delay: 0,
          wait: pick([0, 0.5, 1]),
          kept: this.dict(),
          ...(chance(0.5) ? { message: this.text() } : {}),
        },
      };
    const said = this.mutated({ retcode: pick(numbers), aborted: this.value() });
    return typeof said === 'object' && said !== null && 'restart' in said ? null : said;
  }

  hello(grains: Json): Json {
    const { chance } = this.#dice;
    const hello = { protocol: 1, node: 'v22.0.0', pid: 1, user: 'root', grains };
    return chance(0.03) ? this.mutated(hello, chance(0.8) ? ['protocol'] : []) : hello;
  }

  /** A message as a frame, or as several; with marks, or without. */
  frame(message: Json): Buffer {
    const { below, chance } = this.#dice;
    const isMarked = chance(0.1);
    const written = isMarked ? this.#marked(message) : JSON.stringify(message);
    const bytes = Buffer.from((written ?? 'null').replace(/"@raw:([^"@]*)@"/g, '$1'));
    const frames: Buffer[] = [];
    let at = 0;
    for (let parts = chance(0.1) ? 1 + below(4) : 0; parts > 0; parts--) {
      const size = below(bytes.length - at + 1);
      frames.push(frameOf(5, bytes.subarray(at, at + size)));
      at += size;
    }
    return Buffer.concat([...frames, frameOf(isMarked ? 4 : 1, bytes.subarray(at))]);
  }

  /** A message whose dicts and numbers have marks as `protocol/exact-json.ts` writes them. */
  #marked(message: Json): string | undefined {
    const { chance } = this.#dice;
    return JSON.stringify(message, (_, value: Json) => {
      if (typeof value === 'number' && Number.isFinite(value) && chance(0.2))
        return { '\0': raw(String(value)) };
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      return chance(0.3) ? { '\0': Object.entries(value) } : value;
    });
  }

  /** Output of a login shell before the runtime begins. */
  noise(): Buffer {
    const { below, chance, pick } = this.#dice;
    const pieces = Array.from({ length: below(6) }, () =>
      pick<() => Buffer>([
        () => Buffer.from(`${this.text()}\n`),
        () => Buffer.from(Array.from({ length: below(200) }, () => below(256))),
        () => Buffer.from(pick(['TSALT1', '\n\0TSALT', '\0', '\n\0', 'TSALT1 {}\n', '\u001b[2J'])),
        () => Buffer.alloc(pick([0, 5000, 100_000]), pick(['x', '\n', '\0'])),
        () => (chance(0.2) ? Buffer.from(`\n\0TSALT1 ${this.text()}\n`) : Buffer.alloc(0)),
      ])(),
    );
    return Buffer.concat([...pieces, Buffer.from('\n')]);
  }

  /** The first message of the loader. */
  first(): Json {
    const first = { start: true, dir: '/', cached: true, node: 'v22.0.0', pid: 4711 };
    return this.#dice.chance(0.03) ? this.mutated(first, ['start', 'cached']) : first;
  }

  /** The outcome of a guarded run. */
  guarded(): Json {
    const { chance } = this.#dice;
    const right = { confirmed: chance(0.7), restored: [this.text()], problems: [this.text()] };
    return chance(0.5) ? right : this.mutated(right);
  }

  /** Cuts bytes as a network may. */
  *cut(bytes: Buffer): Generator<Buffer> {
    const { below, chance } = this.#dice;
    if (chance(0.9)) return yield bytes;
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + below(bytes.length > 1000 ? bytes.length : 40);
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
}

const deep = (levels: number, kind: 'list' | 'dict'): Json => {
  let value: Json = 'x';
  for (let level = 0; level < levels; level++) value = kind === 'list' ? [value] : { a: value };
  return value;
};
