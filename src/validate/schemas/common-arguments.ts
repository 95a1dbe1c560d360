import type { PlainDict } from '../../protocol/plain.ts';
import { requisiteInKeywords, requisiteKeywords } from '../../protocol/state-keywords.ts';

/** A list of states: an ID, or `module: ID`. */
export const requisiteSchema: PlainDict = {
  type: 'array',
  items: {
    anyOf: [
      { type: 'string' },
      { type: 'object', minProperties: 1, propertyNames: { pattern: '^[^.]*$' } },
    ],
  },
};

const requisiteDocs: Readonly<Record<string, string>> = {
  require: 'Runs after these states, and only if they succeed.',
  require_any: 'Runs after these states, if one of them succeeds.',
  watch: 'Like `require`, and reacts when one of these states changes something.',
  watch_any: 'Like `watch`, if one of these states succeeds.',
  onchanges: 'Runs only when one of these states changes something.',
  onchanges_any: 'Runs only when one of these states changes something.',
  onfail: 'Runs only when one of these states fails.',
  onfail_any: 'Runs only when one of these states fails.',
  onfail_all: 'Runs only when all of these states fail.',
  onfail_stop: 'Whether states that require a state that failed are stopped by its onfail states.',
  prereq: 'Runs before these states, and only if they are going to change something.',
  prerequired: 'Is set by `prereq`.',
  listen: 'Reacts at the end of the run when one of these states changes something.',
  require_in: 'These states require this one.',
  watch_in: 'These states watch this one.',
  onchanges_in: 'These states run only when this one changes something.',
  onfail_in: 'These states run only when this one fails.',
  prereq_in: 'These states run before this one if this one is going to change something.',
  listen_in: 'These states react at the end of the run to changes of this one.',
};

/** A statement whose form the compiler does not check may be a single ID, too. */
const looseRequisite: PlainDict = {
  anyOf: [{ $ref: '#/$defs/requisite' }, { type: ['string', 'object'] }],
};

const checked: ReadonlySet<string> = new Set(['require', 'watch', 'prereq', 'onchanges']);

const requisites = Object.fromEntries(
  [...requisiteKeywords, ...requisiteInKeywords, 'use', 'use_in'].map(
    (name): [string, PlainDict] =>
      name === 'onfail_stop'
        ? [name, { type: 'boolean', description: requisiteDocs[name] ?? name }]
        : [
            name,
            {
              ...(checked.has(name) ? { $ref: '#/$defs/requisite' } : looseRequisite),
              ...(requisiteDocs[name] === undefined ? {} : { description: requisiteDocs[name] }),
            },
          ],
  ),
);

/** Arguments of every state: requisites, conditions and switches of the state system. */
export const commonSchemas: PlainDict = {
  name: { description: 'The object of the state. Default: its ID.' },
  names: {
    description: 'Makes one state of each name; an item may map its name to arguments.',
    type: 'array',
    items: { type: ['string', 'number', 'boolean', 'object'] },
  },
  ...requisites,
  use: { ...looseRequisite, description: 'Takes over arguments of these states.' },
  use_in: { ...looseRequisite, description: 'These states take over arguments of this one.' },
  onlyif: { description: 'Runs only if all of these commands or functions succeed.' },
  unless: { description: 'Runs only if one of these commands or functions fails.' },
  creates: { description: 'Runs only if one of these paths is missing.' },
  check_cmd: { description: 'Commands that must succeed after the state.' },
  failhard: { description: 'Ends the run if this state fails.' },
  retry: {
    description: 'Repeats the state until it succeeds.',
    anyOf: [
      { type: 'boolean' },
      {
        type: ['object', 'array'],
        properties: {
          attempts: { description: 'Default: 2.' },
          until: { description: 'The result to wait for. Default: true.' },
          interval: { description: 'Seconds between attempts. Default: 30.' },
          splay: { description: 'Adds a random delay of at most this many seconds.' },
        },
      },
      { type: 'null' },
    ],
  },
  order: { description: '`first`, `last` or a number.' },
  parallel: { description: 'Runs beside other states.' },
  reload_modules: { description: 'Loads modules again after the state.' },
  reload_grains: { description: 'Reads grains again after the state.' },
  reload_pillar: { description: 'Has no effect on a run: its pillar is compiled before.' },
  runas: { description: 'The user that runs commands of the state.' },
  runas_password: {},
  fire_event: { description: 'Fires an event about the result.' },
  saltenv: { description: 'The environment of `salt://` paths.' },
  umask: { description: 'The umask of the state.' },
  cmd_opts_exclude: {},
  unsafe_symlinks: {},
  no_log: { description: 'Hides the arguments, changes and output of the state.' },
  lax: { description: 'Accepts arguments that look like misspelt ones.' },
  aggregate: { description: 'Installs together with other states of the module.' },
  provider: { description: 'The module that carries out the state.' },
  providers: {},
  state: {},
  fun: {},
  name_order: {},
};
