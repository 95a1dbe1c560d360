import { collectGarbage } from '../memory/collect-garbage.ts';
import { messageOf } from '../protocol/error.ts';
import type { HostResult, RunEvent } from '../protocol/event.ts';
import { HostFold } from './fold-hosts.ts';
import { type Format, isSilent, type Joint, loadFormat, outputNames } from './format.ts';
import { type Held, HeldResults, heldWithoutContent } from './held-results.ts';
import type { Live } from './live.ts';
import { errorText, isLogged, logLine } from './message.ts';
import type { OutputOptions } from './options.ts';
import { Recap } from './recap.ts';
import type { Output, OutputRequest } from './request.ts';
import { errorTexts, unshowable } from './result.ts';
import { errorOf, isShareable, SharedErrors } from './shared-errors.ts';
import { cutResult } from './size.ts';
import { StoredOutput } from './stored-output.ts';
import { StreamLines } from './stream-lines.ts';
import { compareText, indented, oneLine } from './text.ts';

/** Makes the output of one run. Only what `--out` needs is loaded. */
export const createOutput = async (given: OutputRequest): Promise<Output> => {
  const { out } = given.options;
  if (given.jsonLog) {
    const { jsonDiagnostic: jsonComplaint, withJsonLog } = await import('./json-log.ts');
    const { jsonLog: _, logFile: __, ...rest } = given;
    const complain = jsonComplaint(given);
    const quiet = { ...rest, complain, logLevel: 'quiet', timeline: false, stream: false } as const;
    return withJsonLog(await createOutput(quiet), given);
  }
  const output =
    out === 'ndjson'
      ? (await import('./format/ndjson.ts')).ndjsonOutput(given)
      : out === 'html'
        ? (await import('./html/html.ts')).htmlOutput(given)
        : new HostOutput(given);
  return given.logFile === undefined ? output : withLogFile(output, given.logFile);
};

const withLogFile = (output: Output, file: NonNullable<OutputRequest['logFile']>): Output => ({
  emit: event => {
    if (event.type === 'log' && isLogged(event.level, file.level))
      file.write(`${new Date().toISOString()} ${logLine(event)}\n`);
    output.emit(event);
  },
  pause: () => output.pause(),
  finish: () => output.finish(),
  fail: error => output.fail(error),
});

class HostOutput implements Output {
  readonly #request: OutputRequest;
  /** Results that are not written yet: a fleet's results may be large. */
  readonly #results = new Set<Held>();
  readonly #store = new HeldResults();
  #hadResults = false;
  /** Errors of SLS and pillar that were printed on standard error: hosts share most of them. */
  readonly #told = new Set<string>();
  readonly #errors = new SharedErrors();
  readonly #warnings = new SharedErrors();
  readonly #started = performance.now();
  #format: Promise<Format> | undefined;
  #work: Promise<void> = Promise.resolve();
  #live: Live | undefined;
  #before: RunEvent[] = [];
  #timer: NodeJS.Timeout | undefined;

  readonly #fold: HostFold | undefined;
  readonly #recap = new Recap();
  readonly #printed: StoredOutput | undefined;
  readonly #lines: StreamLines | undefined;

  constructor(request: OutputRequest) {
    const { options, fold } = request;
    const isForPeople = options.out === undefined || forPeopleToo.includes(options.out);
    if (fold === true && !options.static && isForPeople) this.#fold = new HostFold();
    const sameAs = this.#fold && { sameAs: this.#fold.sameAs.bind(this.#fold) };
    if (options.out === 'junit') this.#printed = new StoredOutput();
    const printed = this.#printed && { printed: this.#printed.of.bind(this.#printed) };
    if (request.stream === true) this.#lines = new StreamLines(request.complain);
    this.#request = { ...request, options: { ...options, ...sameAs, ...printed } };
    const { live, liveAfter = 300 } = request;
    if (live !== undefined) this.#timer = setTimeout(() => this.#goLive(live), liveAfter);
  }

  emit = (event: RunEvent): void => {
    if (this.#live) this.#live.emit(event);
    else if (this.#timer !== undefined && event.type !== 'log' && event.type !== 'output')
      this.#before.push(withoutData(event));
    if (this.#fold) this.#recap.follow(event);
    this.#printed?.follow(event);
    this.#lines?.follow(event);
    if (this.#fold && event.type === 'start') this.#fold.hosts = event.hosts.length;
    if (event.type === 'log') this.#log(event);
    else if (event.type === 'phase' && this.#request.timeline) this.#phase(event);
    else if (event.type === 'host') this.#host(event.result);
  };

  pause = async (): Promise<() => void> => {
    await this.#work;
    return (await this.#live?.pause()) ?? (() => undefined);
  };

  finish = async (): Promise<void> => {
    await this.#settle();
    try {
      await this.#printLeft([...this.#results]);
      this.#tellShared();
      const recap = this.#fold ? this.#recap.text(this.#request.options.color) : '';
      if (recap !== '') this.#request.write(`${recap}\n`);
    } finally {
      this.#store.close();
    }
  };

  async #printLeft(left: readonly Held[]): Promise<void> {
    const { options } = this.#request;
    const format = await this.#formatOf(left[0]?.about);
    const isOne = left.length > 0 && (options.static || format.whole === true);
    const isSmall = left.reduce((sum, { size }) => sum + size, 0) <= mostTogether;
    const joint = isOne && !isSmall ? format.joint?.(options) : undefined;
    if (joint) this.#join(joint, left, format);
    else if (isOne && (isSmall || format.whole === true)) await this.#print(left);
    else for (const held of isOne ? inOrder(left) : left) await this.#print([held]);
  }

  /** One document for results that are too large to be together in memory. */
  #join(joint: Joint, left: readonly Held[], format: Format): void {
    const { write } = this.#request;
    let before = joint.open;
    for (const held of joint.isSorted ? inOrder(left) : left) {
      const result = this.#take(held, format.longest);
      if (format.faults !== true) this.#tellFaults([result]);
      write(before);
      writePart(joint, result, write);
      before = joint.between;
      if (held.size > large) collectGarbage();
    }
    write(`${joint.close}\n`);
  }

  /** The result, cut to what the format can show. */
  #take(held: Held, longest = usualLongest): HostResult {
    this.#results.delete(held);
    if (held.size <= longest) return held.take();
    this.#log({
      type: 'log',
      module: 'output',
      level: 'error',
      message: `${held.about.id}: the result is too large for this output. About ${longest} of ${held.size} characters are shown; --out json shows more.`,
    });
    const shown = cutTo(held, longest);
    collectGarbage();
    return shown;
  }

  fail = async (error: unknown): Promise<void> => {
    await this.finish();
    this.#request.complain(`${errorText(error)}\n`);
    const empty = emptyDocument[this.#request.options.out ?? ''];
    if (!this.#hadResults && empty !== undefined) this.#request.write(empty);
  };

  async #settle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#work;
    await this.#live?.stop();
    this.#live = undefined;
  }

  #goLive(start: () => Promise<Live>): void {
    this.#work = this.#work.then(async () => {
      const live = await start();
      if (this.#timer === undefined) return;
      this.#timer = undefined;
      for (const event of this.#before) live.emit(event);
      this.#before = [];
      this.#live = live;
    });
  }

  /** Writes each host as it finishes, unless progress is on the screen. */
  #host(given: HostResult): void {
    this.#hadResults = true;
    const result = this.#fold ? this.#fold.add(given) : given;
    if (result === undefined) return;
    const { options, live, complain } = this.#request;
    const held = isSilent(options.out) ? heldWithoutContent(result) : this.#store.hold(result);
    if (held.size > large) collectGarbage();
    this.#results.add(held);
    if (result.failure !== undefined && result.states !== undefined)
      complain(`${oneLine(result.id)}: ${indented(result.failure.message)}\n`);
    if (options.static || live !== undefined || this.#fold) return;
    this.#work = this.#work.then(async () => {
      if ((await this.#formatOf(held.about)).whole !== true) await this.#print([held]);
    });
  }

  async #print(list: readonly Held[]): Promise<void> {
    const { options, write } = this.#request;
    const format = await this.#formatOf(list[0]?.about);
    const [only] = list.length === 1 ? list : [];
    const joint = only && only.size > large ? format.joint?.(options) : undefined;
    if (joint) return this.#join(joint, list, format);
    const { longest = usualLongest } = format;
    const isSmall = list.reduce((sum, { size }) => sum + size, 0) <= mostTogether;
    const share = isSmall ? longest : Math.min(longest, Math.ceil(mostTogether / list.length));
    const taken = list.map(held => this.#take(held, share));
    const results =
      format.faults === true ? taken.filter(result => !this.#isShared(result)) : taken;
    if (results.length === 0 && taken.length > 0) return;
    if (format.faults !== true) this.#tellFaults(results);
    const headline = only && this.#fold?.headline(only.about.id);
    if (headline !== undefined) write(`${headline}\n`);
    const text = (await this.#textOf(results, format, options)).trimEnd();
    if (text !== '') write(`${text}\n`);
    if (list.some(({ size }) => size > large)) collectGarbage();
  }

  /**
   * For people, an error of many hosts is printed once; data for programs contains it for each
   * host.
   */
  #isShared(result: HostResult): boolean {
    const error = errorOf(result);
    return error !== undefined && this.#errors.add(result.id, error);
  }

  #tellShared(): void {
    const { write, complain } = this.#request;
    for (const { first, others } of this.#errors.left())
      write(`The error of ${first} also occurred on ${others}\n`);
    for (const { text, others } of this.#warnings.left()) complain(`${text} (also on ${others})\n`);
  }

  /** Prints hints on standard error, because data for programs does not contain them. */
  #tellFaults(results: readonly HostResult[]): void {
    if (!isLogged('error', this.#request.logLevel)) return;
    for (const text of results.flatMap(errorTexts)) {
      if (this.#told.has(text)) continue;
      this.#told.add(text);
      this.#request.complain(`${indented(text)}\n`);
    }
  }

  /** Results must not be lost because a custom outputter, or the result of one host, fails. */
  async #textOf(
    results: readonly HostResult[],
    { format }: Format,
    options: OutputOptions,
  ): Promise<string> {
    try {
      return format(results, options);
    } catch (error) {
      const usual = await loadFormat(results[0]?.states === undefined ? 'nested' : 'highstate');
      const shown = results.map(result => showable(result, usual, options));
      if (shown.some((result, at) => result !== results[at]))
        return this.#textOf(shown, { format }, options);
      const reason = messageOf(error);
      const message = `The outputter '${options.out}' failed: ${reason}. The usual one takes its place.`;
      this.#log({ type: 'log', module: 'output', level: 'error', message });
      return usual.format(results, options);
    }
  }

  /** The format of `--out`, or the one that this result asks for. */
  #formatOf(result: HostResult | undefined): Promise<Format> {
    const { out } = this.#request.options;
    if (out === undefined) return this.#load(outputterOf(result));
    this.#format ??= this.#load(out);
    return this.#format;
  }

  async #load(name: string): Promise<Format> {
    if (outputNames.includes(name)) return loadFormat(name);
    const own = await this.#request.userFormat?.(name);
    if (own) return own;
    const message = `There is no outputter '${name}', which the function asks for. nested takes its place.`;
    this.#log({ type: 'log', module: 'output', level: 'error', message });
    return loadFormat('nested');
  }

  #log(event: RunEvent & { type: 'log' }): void {
    const { logLevel, complain } = this.#request;
    if (!isLogged(event.level, logLevel)) return;
    // With debug logging, the lines of a host are shown in order and in full.
    const isWhole = isLogged('debug', logLevel) || !isShareable(event);
    const { host = '', level, module, message } = event;
    const text = `[${level.toUpperCase().padEnd(8)}] ${oneLine(module)}: ${oneLine(message)}`;
    const error = JSON.stringify([level, module, message]);
    if (isWhole || !this.#warnings.add(host, error, text)) complain(`${logLine(event)}\n`);
  }

  #phase({ host, phase, detail }: RunEvent & { type: 'phase' }): void {
    const at = ((performance.now() - this.#started) / 1000).toFixed(3).padStart(8);
    const more = detail === undefined ? '' : ` ${oneLine(detail)}`;
    this.#request.complain(`${at} s  ${oneLine(host)}: ${phase}${more}\n`);
  }
}

/**
 * Reduces an event to what progress needs: events that wait for the screen must not keep results in
 * memory.
 */
const withoutData = (event: RunEvent): RunEvent => {
  if (event.type === 'host') {
    const { id, fun, retcode, failure } = event.result;
    return { ...event, result: { id, fun, retcode, ...(failure ? { failure } : {}) } };
  }
  if (event.type !== 'state') return event;
  const isChanged = Object.keys(event.result.changes ?? {}).length > 0;
  const changes = isChanged ? { some: true } : {};
  return { ...event, result: { ...event.result, changes, comment: '' } };
};

/** Returns the outputter that the function's module names for what it returns (`__outputter__`). */
const outputterOf = (result: HostResult | undefined): string => {
  if (result?.states !== undefined) return 'highstate';
  return result?.failure === undefined ? (result?.outputter ?? 'nested') : 'nested';
};

/** Formats that people read; programs read the others. */
const forPeopleToo = ['highstate', 'nested'];

/** Characters of results that are made into one text. */
const mostTogether = 8_000_000;

/** Characters of a result that leaves much garbage behind. */
const large = 1_000_000;

/** Characters of one host's result that a format shows unless it says otherwise. */
const usualLongest = 4_000_000;

const inOrder = (list: readonly Held[]): Held[] =>
  list.toSorted((a, b) => compareText(a.about.id, b.about.id));

const cutTo = (held: Held, longest: number): HostResult => {
  const whole = held.take();
  try {
    return cutResult(whole, longest);
  } catch {
    // Too deep to be cut: the format reports that it cannot be shown.
    return whole;
  }
};

const writePart = (joint: Joint, result: HostResult, write: (text: string) => void): void => {
  let hasBegun = false;
  try {
    joint.part(result, text => {
      hasBegun = true;
      write(text);
    });
  } catch (error) {
    if (hasBegun) throw error;
    joint.part(unshowable(result, error), write);
  }
};

/** The result, or a replacement for one that not even the default outputter can show. */
const showable = (result: HostResult, { format }: Format, options: OutputOptions): HostResult => {
  try {
    format([result], options);
    return result;
  } catch (error) {
    return unshowable(result, error);
  }
};

const emptyDocument: Readonly<Record<string, string>> = { json: '{}\n', yaml: '{}\n' };
