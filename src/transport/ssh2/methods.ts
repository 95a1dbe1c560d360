import type { AnyAuthMethod, ParsedKey } from 'ssh2';
import type { Host } from '../../protocol/host.ts';
import type { KeyRing } from '../keys.ts';
import type { SshSettings } from '../ssh-config.ts';
import type { AskSecret, TransportOptions } from '../transport.ts';
import { readable } from '../unreachable.ts';
import type { Ssh2Options } from './options.ts';

type Sources = {
  readonly host: Host;
  readonly settings: SshSettings;
  readonly given: Ssh2Options;
  /** Without passwords and without prompts. */
  readonly keysOnly: boolean;
  readonly keys: KeyRing;
  readonly options: TransportOptions;
};

type Env = Readonly<Record<string, string | undefined>>;

/** Returns the login methods for one host, in the order to try them; `oneKey`: see `Plan`. */
export const loginMethods = async (
  sources: Sources,
): Promise<{ methods: AnyAuthMethod[]; oneKey: boolean }> => {
  const { host, given, settings, keysOnly, options } = sources;
  const only =
    host.identities_only ||
    options.identitiesOnly ||
    (given.identitiesOnly ?? settings.identitiesOnly);
  const agentOnly = host.priv === 'agent-forwarding';
  const agent = agentSocket(sources);
  const useAgent = agent !== undefined && (agentOnly || !only);
  const username = host.user;
  const { keys, configured } = await keysOf(sources, agentOnly);
  const keyMethods = keys.map(key => ({ type: 'publickey', username, key }) as const);
  const agentMethods = useAgent ? [{ type: 'agent', username, agent } as const] : [];
  const methods = inOrder(given.methods, [
    ...(configured ? [...keyMethods, ...agentMethods] : [...agentMethods, ...keyMethods]),
    ...(keysOnly ? [] : passwordMethods(host, options.ask)),
  ]);
  return {
    methods,
    oneKey: keys.length === 1 && (configured || !useAgent) && methods[0]?.type === 'publickey',
  };
};

const agentSocket = ({ given, settings, options }: Sources): string | undefined => {
  const env = options.env ?? process.env;
  const socket = given.identityAgent ?? settings.identityAgent ?? env.SSH_AUTH_SOCK;
  const variable = socket?.replace(/^\$\{?(\w+)\}?$/, '$1');
  const named =
    variable !== undefined && /^\w+$/.test(variable) && variable !== 'none'
      ? env[variable]
      : socket;
  return named && named !== 'none' ? expandHome(named, env) : undefined;
};

/** `configured`: the roster or the configuration names key files for this host. */
const keysOf = async (
  { host, settings, given, keysOnly, keys: ring, options }: Sources,
  agentOnly: boolean,
): Promise<{ keys: ParsedKey[]; configured: boolean }> => {
  const env = options.env ?? process.env;
  const { priv, passwd } = host;
  const keys: ParsedKey[] = [];
  const files = agentOnly ? [] : [...(priv === undefined ? [] : [priv]), ...given.identityFiles];
  for (const file of files)
    keys.push(await ring.load(expandHome(file, env), host.id, host.priv_passwd));
  if (files.length === 0 && !agentOnly && (keysOnly || passwd === undefined))
    for (const file of settings.identityFiles) {
      const key = await ring.loadIfUsable(file, host.id);
      if (key) keys.push(key);
    }
  return { keys, configured: files.length > 0 };
};

const passwordMethods = (
  { id, user: username, passwd }: Host,
  ask: AskSecret | undefined,
): AnyAuthMethod[] => {
  const interactive: AnyAuthMethod = {
    type: 'keyboard-interactive',
    username,
    prompt: (_name, _instructions, _language, prompts, finish) => {
      const answers = prompts.map(({ prompt, echo }) => {
        if (passwd && !echo) return Promise.resolve(passwd.reveal());
        if (!ask) return Promise.resolve('');
        const text = readable(prompt, 200);
        return ask({
          host: id,
          what: 'keyboard-interactive',
          prompt: `${id}: ${text} `,
        }).then(answer => answer.reveal());
      });
      Promise.all(answers).then(finish, () => finish([]));
    },
  };
  if (passwd === undefined) return ask ? [interactive] : [];
  return [{ type: 'password', username, password: passwd.reveal() }, interactive];
};

/** Returns the methods that `ssh_options` allow, in their order; an agent offers keys. */
const inOrder = (order: readonly string[], methods: readonly AnyAuthMethod[]): AnyAuthMethod[] => {
  const rank = ({ type }: AnyAuthMethod): number =>
    order.indexOf(type === 'agent' ? 'publickey' : type);
  return methods.filter(one => rank(one) >= 0).sort((a, b) => rank(a) - rank(b));
};

const expandHome = (path: string, env: Env): string =>
  path.startsWith('~/') && env.HOME ? env.HOME + path.slice(1) : path;
