import type { Request } from '../../config/request.ts';
import type { Dict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { Peer } from '../../protocol/peer.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { pack } from '../../render/confined/wire.ts';
import type { PillarSettings } from '../../wrapper/context.ts';
import { pillarSettingsOf } from '../../wrapper/pillar-settings.ts';
import type { Shared } from '../facts/shared.ts';
import { HostAttempt } from './attempt.ts';

/** A request to the host, made by a template of the pillar. */
export type HostRequest = { readonly method: string; readonly params: unknown };

/** The pillar of a host that another process is connected to, or the request it must send first. */
export type PillarResponse = { readonly pillar: Dict } | { readonly needs: HostRequest };

/** The responses of a host to the requests of its pillar so far, by `requestKey`. */
export type HostResponses = Readonly<Record<string, Plain>>;

/** Limit of requests to a host for one pillar. */
const mostAnswers = 200;

/** Identifies a request by its method and arguments. */
export const requestKey = ({ method, params }: HostRequest): string =>
  JSON.stringify([method, params]);

/** Takes the place of the wire to a host: answers requests from the responses so far. */
class AnsweringPeer extends Peer {
  readonly #answers: HostResponses;
  readonly #host: string;
  needs: HostRequest | undefined;

  constructor(host: string, answers: HostResponses) {
    super({ write: () => undefined, handlers: {}, events: {} });
    this.#host = host;
    this.#answers = answers;
  }

  override async request<T>(method: string, params: unknown): Promise<T> {
    const request = { method, params };
    const key = requestKey(request);
    if (Object.hasOwn(this.#answers, key)) return this.#answers[key] as T;
    this.needs ??= request;
    throw new TsaltError('needs-host', `${this.#host} must be asked first.`, { kind: 'internal' });
  }
}

/**
 * Compiles the pillar of a host that another process is connected to. If a template calls the host,
 * returns that request instead; the other process then asks again, with the response.
 *
 * @throws TsaltError as the pillar of a host here does
 */
export const pillarResponse = async (
  shared: Shared,
  host: Host,
  {
    grains,
    settings,
    answers,
  }: {
    readonly grains: PlainDict;
    readonly settings: PillarSettings;
    readonly answers: HostResponses;
  },
): Promise<PillarResponse> => {
  if (Object.keys(answers).length > mostAnswers)
    throw new TsaltError(
      'pillar-calls',
      `The pillar of ${host.id} calls functions of the host more than ${mostAnswers} times.`,
      { kind: 'pillar' },
    );
  const artifact = await shared.artifact();
  const peer = new AnsweringPeer(host.id, answers);
  const attempt = new HostAttempt(shared, host, {
    ask: (_, ask) => ask(),
    grains: async () => undefined,
    refuse: () => undefined,
    ready: async () => undefined,
    restart: async () => ({ took: 0 }),
    guarded: (_, run) => run(),
    beginLast: () => false,
  });
  try {
    attempt.learn(artifact, await shared.ownModules());
    attempt.greet(grains, peer);
    for (const [key, answer] of Object.entries(answers)) attempt.facts.hear(answer, key);
    const pillar = await attempt.pillar.compile(settings);
    return peer.needs ? { needs: peer.needs } : { pillar };
  } catch (error) {
    if (peer.needs) return { needs: peer.needs };
    throw error;
  } finally {
    attempt.close();
  }
};

/**
 * Refuses what a worker elsewhere would lay over the pillar, unless the command line has laid it
 * there: with it a top file could be made to choose another host's pillar, and messages would be
 * decrypted that no pillar file contains.
 *
 * @throws TsaltError `pillar-override`
 */
export const checkOverride = ({ override }: PillarSettings, { kwargs, config }: Request): void => {
  if (!override) return;
  const own = pillarSettingsOf(kwargs, config.options).override;
  if (own && pack(own) === pack(override)) return;
  throw new TsaltError(
    'pillar-override',
    'A worker elsewhere lays nothing over the pillar but what the command line names.',
    { kind: 'pillar', hint: 'Give pillar={…} on the command line, or leave via out.' },
  );
};

/** Reads what another process asks for a pillar with. */
export const readPillarQuestion = (
  value: unknown,
  unpacked: (text: string) => Dict,
): { grains: PlainDict; settings: PillarSettings; answers: HostResponses } => {
  const { grains, pillarenv, saltenv, override, answers } = isPlainDict(value) ? value : {};
  return {
    grains: isPlainDict(grains) ? grains : {},
    settings: {
      ...(typeof pillarenv === 'string' ? { pillarenv } : {}),
      ...(typeof saltenv === 'string' ? { saltenv } : {}),
      ...(typeof override === 'string' ? { override: unpacked(override) } : {}),
    },
    answers: isPlainDict(answers) ? answers : {},
  };
};
