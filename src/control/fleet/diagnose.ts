import { isIP } from 'node:net';
import pLimit from 'p-limit';
import type { Request } from '../../config/request.ts';
import { type ErrorKind, showError, TsaltError } from '../../protocol/error.ts';
import type { HostFailure, RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { becomeProgram } from '../../transport/become.ts';
import { openTransport } from '../../transport/open-transport.ts';
import { type HostProbe, probeHost, probeShell } from '../../transport/probe-host.ts';
import { logInTo } from '../host/log-in.ts';
import { transportOptions } from '../host/transport-options.ts';
import { connectError } from './connect-error.ts';
import { noTarget } from './no-target.ts';
import { runFleet } from './run.ts';

/** One step on the way to a host's first state. */
export type DoctorStep = {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** The advice to the user. */
  readonly hint?: string;
};

export type HostDiagnosis = {
  readonly id: string;
  readonly steps: readonly DoctorStep[];
  /** The error that a run on this host would have. */
  readonly failure?: { readonly kind: ErrorKind; readonly code: string };
};

type Emit = (event: RunEvent) => void;

/**
 * Takes the steps of a run to each host of a request, up to a call of `test.ping`, and reports each
 * host when it is done. Only the workspace stays on the host.
 *
 * @param hosts the hosts that match the request's target
 * @throws {TsaltError} kind `no-target`
 */
export const diagnose = async (
  request: Request,
  hosts: readonly Host[],
  report: (diagnosis: HostDiagnosis) => void,
  signal: AbortSignal,
): Promise<void> => {
  if (hosts.length === 0) throw noTarget(request);
  const limit = pLimit(Math.max(1, request.options.maxProcs));
  const one = async (host: Host): Promise<void> =>
    report(await new Examination(request, host, signal).result());
  await Promise.all(hosts.map(host => limit(one, host)));
};

class Examination {
  readonly #request: Request;
  #host: Host;
  readonly #signal: AbortSignal;
  readonly #steps: DoctorStep[] = [];
  readonly #emit: Emit = () => undefined;
  #failure: HostDiagnosis['failure'];

  constructor(request: Request, host: Host, signal: AbortSignal) {
    this.#request = request;
    this.#host = host;
    this.#signal = signal;
  }

  async result(): Promise<HostDiagnosis> {
    const { id } = this.#host;
    await this.#examine().catch((error: unknown) => this.#fail('runtime', error));
    const failure = this.#failure;
    return { id, steps: this.#steps, ...(failure === undefined ? {} : { failure }) };
  }

  async #examine(): Promise<void> {
    try {
      this.#host = await this.#request.prepareHost(this.#host);
    } catch (error) {
      return this.#fail('roster', error);
    }
    this.#add('roster', 'ok', describeHost(this.#host));
    if (!(await this.#reach())) return;
    await this.#callPing();
  }

  #add(name: string, state: DoctorStep['state'], detail: string, hint?: string): void {
    this.#steps.push({ name, state, detail, ...(hint === undefined ? {} : { hint }) });
  }

  #fail(name: string, error: unknown, hint?: string): void {
    this.#failure = error instanceof TsaltError ? error : { kind: 'internal', code: 'internal' };
    const [detail = '', ...more] = showError(error).split('\n');
    const text = [...more, ...(hint === undefined ? [] : [hint])].join('\n');
    this.#add(name, 'failed', detail, text === '' ? undefined : text);
  }

  /** Connects and inspects the host; false if a step failed. */
  async #reach(): Promise<boolean> {
    const [request, host, signal, emit] = [this.#request, this.#host, this.#signal, this.#emit];
    const transport = openTransport(transportOptions(request, emit));
    let isVerified = false;
    const onPhase = (): void => {
      isVerified = true;
    };
    const connect = { signal, onPhase };
    try {
      const connection = await logInTo({ request, transport, host, signal, emit, connect });
      try {
        const isSsh = connection.transport === 'ssh2';
        if (isSsh) this.#passed(undefined);
        const askSudoPassword = () =>
          request.ask({
            host: host.id,
            what: 'sudo-password',
            prompt: `[sudo] password for ${host.user}@${host.id}: `,
          });
        const options = { connection, host, signal, askSudoPassword };
        try {
          await probeShell(options);
        } catch (error) {
          if (!isSsh && error instanceof TsaltError && error.kind !== 'host') throw error;
          this.#fail('shell', error);
          return false;
        }
        if (!isSsh) this.#add('login', 'ok', `by ${connection.transport}`);
        this.#add('shell', 'ok', 'runs commands');
        try {
          this.#describe(await probeHost(options));
        } catch (error) {
          this.#fail(becomeProgram(host) ? 'become' : 'shell', error);
          return false;
        }
        return true;
      } finally {
        connection.close();
      }
    } catch (error) {
      const { step, hint } = connectError(host, error, isVerified);
      this.#passed(step);
      this.#fail(step, error, hint);
      return false;
    } finally {
      transport.close();
    }
  }

  /** Adds the steps before this one as passed. */
  #passed(until: string | undefined): void {
    for (const [name, detail] of wayOf(this.#host)) {
      if (name === until) return;
      this.#add(name, 'ok', detail);
    }
  }

  #describe(probe: HostProbe): void {
    const program = becomeProgram(this.#host);
    this.#add(
      'become',
      program ? 'ok' : 'skipped',
      program ? `${probe.user}, by ${program}` : `not in the roster: runs as ${probe.user}`,
    );
    const place = probe.places.find(({ state }) => state !== 'unwritable');
    const refused = probe.places.filter(({ state }) => state === 'unwritable');
    for (const { path, space } of refused)
      this.#add(
        'disk',
        'warning',
        `${path} cannot be written${space === 0 ? ': the disk is full' : ''}`,
        space === 0 ? 'Free some space on the host.' : undefined,
      );
    if (place) {
      const isShort = place.space !== undefined && place.space < leastSpace;
      this.#add(
        'disk',
        isShort ? 'warning' : 'ok',
        `${place.space === undefined ? 'unknown space' : megabytes(place.space)} free for ${place.path}`,
        isShort ? 'Free some space, or name another place by thin_dir in the roster.' : undefined,
      );
      const isExec = place.state === 'exec';
      this.#add(
        'programs',
        isExec ? 'ok' : 'warning',
        isExec ? 'may run from there' : `may not run from ${place.path} (noexec)`,
        isExec
          ? undefined
          : 'Node must be installed on the host, or thin_dir in the roster be on another file system.',
      );
    }
    this.#describeNode(probe);
    const { skew } = probe;
    if (skew !== undefined)
      this.#add(
        'clock',
        Math.abs(skew) > mostSkew ? 'warning' : 'ok',
        Math.abs(skew) <= 1
          ? 'agrees'
          : `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} this machine`,
        Math.abs(skew) > mostSkew
          ? 'Certificates, repositories and schedules depend on it: timedatectl set-ntp true'
          : undefined,
      );
  }

  #describeNode({ node }: HostProbe): void {
    const version = Number(/^v(\d+)\./.exec(node?.version ?? '')?.[1] ?? 0);
    if (node === undefined) this.#add('Node', 'ok', 'not installed: a run brings one');
    else if (version >= oldestNode) this.#add('Node', 'ok', `${node.version}, ${node.path}`);
    else
      this.#add(
        'Node',
        this.#host.node_bin === undefined ? 'ok' : 'warning',
        version === 0
          ? `${node.path} does not start: a run brings one`
          : `${node.path} is ${node.version}, too old: a run brings one`,
      );
  }

  async #callPing(): Promise<void> {
    const host = this.#host;
    let uploaded = '';
    let failure: HostFailure | undefined;
    let value: unknown;
    const emit: Emit = event => {
      if (event.type === 'phase' && /^upload/.test(event.phase)) uploaded = event.detail ?? 'sent';
      if (event.type !== 'host') return;
      ({ failure, value } = event.result);
    };
    const { raw: _, ...request } = this.#request;
    await runFleet(
      {
        ...request,
        target: host.id,
        targetType: 'list',
        hosts: [host],
        prepareHost: async one => one,
        fun: 'test.ping',
        args: [],
        kwargs: new Map(),
      },
      emit,
      this.#signal,
    );
    if (failure === undefined && value === true) {
      this.#add('workspace', 'ok', uploaded === '' ? 'has the artifact' : `artifact: ${uploaded}`);
      this.#add('runtime', 'ok', 'test.ping returns True');
      return;
    }
    const { kind, code, message } = failure ?? noAnswer;
    const error = new TsaltError(code, message.split('\n')[0] ?? '', { kind });
    this.#fail(stepOfRun(code), error, message.split('\n').slice(1).join('\n') || undefined);
  }
}

const noAnswer: HostFailure = {
  kind: 'host',
  code: 'no-answer',
  message: 'The host returned no result.',
};

/** Kilobytes for the artifact, and for Node if the host has none. */
const leastSpace = 20_000;
const mostSkew = 60;
const oldestNode = 18;

const megabytes = (kilobytes: number): string => `${Math.floor(kilobytes / 1024)} MB`;

const stepOfRun = (code: string): string =>
  code.startsWith('node-') || code === 'bootstrap-ended'
    ? 'Node'
    : /^(?:workspace|artifact|cache)-/.test(code)
      ? 'workspace'
      : 'runtime';

const describeHost = (host: Host): string => {
  const { transport = 'ssh2', user, port } = host;
  const program = becomeProgram(host);
  const become = program ? `, ${program} to ${host.sudo_user ?? 'root'}` : '';
  if (transport === 'local') return `this machine${become}`;
  if (transport === 'chroot' || transport === 'container') return `${host.host}${become}`;
  const jump = host.proxy_jump === undefined ? '' : ` through ${host.proxy_jump}`;
  return `${user}@${host.host}:${port}${jump}${become}`;
};

/** The steps of an SSH login. */
const wayOf = (host: Host): readonly (readonly [string, string])[] => [
  ['name', isIP(host.host) === 0 ? `${host.host} is known` : `${host.host} is an address`],
  ['connection', 'an SSH server answers'],
  ['host key', host.host_key === undefined ? 'is the known one' : 'is that of the roster'],
  ['login', `as ${host.user}`],
];
