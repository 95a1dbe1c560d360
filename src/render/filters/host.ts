import { parseIp } from '../../data/python/ip-address.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { bindFilter, isTrueData, listOf, toFilterString } from './filter.ts';

/** Calls an execution function for the host. */
export type CallHost = (fun: string, args: Data[], kwargs?: Dict) => Promise<Data>;

/** A filter that reads the files, users or network of the host instead of the control node. */
export type HostFilter = (
  ask: CallHost,
  value: Data,
  args: readonly Data[],
  kwargs: Dict,
) => Promise<Data>;

type Work = (ask: CallHost, value: Data, ...args: (Data | undefined)[]) => Promise<Data>;

const asking =
  (name: string, params: readonly string[], work: Work): HostFilter =>
  async (ask, value, args, kwargs) =>
    work(ask, value, ...bindFilter(name, { params }, args, kwargs));

/** Salt's filters that inspect a machine, under Salt's names. */
export const hostFilters: ReadonlyMap<string, HostFilter> = new Map(
  Object.entries<HostFilter>({
    which: asking('which', [], (ask, exe) => ask('cmd.which', [exe])),
    get_uid: asking('get_uid', [], async (ask, user) => {
      const uid = await ask('file.user_to_uid', user === null ? [] : [user]);
      return uid === '' ? null : uid;
    }),
    file_hashsum: asking('file_hashsum', ['form?'], (ask, path, form = 'sha256') =>
      ask('file.get_hash', [path, form]),
    ),
    list_files: asking('list_files', [], listFiles),
    is_empty: asking('is_empty', [], async (ask, path) => {
      const stats = await orNothing(ask('file.stats', [path]));
      return isDict(stats) && stats.get('size') === 0;
    }),
    is_text_file: asking('is_text_file', [], async (ask, path) => {
      const start = await startOf(ask, path, 512);
      return start !== undefined && isText(start);
    }),
    is_bin_file: asking('is_bin_file', [], async (ask, path) => {
      const start = await startOf(ask, path, 2048);
      return start !== undefined && isBinary(start);
    }),
    http_query: (ask, url, args, kwargs) => ask('http.query', [url, ...args], kwargs),
    dns_check: asking('dns_check', ['port', 'safe?', 'ipv6?'], dnsCheck),
  }),
);

/** Filters that test a value treat a failed call to the host as false. */
const orNothing = (answer: Promise<Data>): Promise<Data> => answer.catch(() => null);

async function listFiles(ask: CallHost, directory: Data): Promise<Data> {
  const found = await orNothing(ask('file.find', [directory]));
  const below = found === null ? [] : listOf(found, 'list_files');
  return [directory, ...below.filter(path => path !== directory)];
}

/** Returns the first bytes of a file; undefined if it cannot be read. */
const startOf = async (ask: CallHost, path: Data, length: number): Promise<Buffer | undefined> => {
  const command = ['od', '-An', '-v', '-tx1', '-N', String(length), '--', toFilterString(path)];
  const answer = await ask('cmd.run_all', [command], new Map([['ignore_retcode', true]]));
  if (!isDict(answer) || answer.get('retcode') !== 0) return undefined;
  return Buffer.from(toFilterString(answer.get('stdout')).replace(/\s+/g, ''), 'hex');
};

const isUtf8 = (bytes: Buffer): boolean => bytes.equals(Buffer.from(bytes.toString('utf8')));

/** Returns the share of bytes that are not plain text. */
const share = (bytes: Buffer, isPlain: (byte: number) => boolean): number =>
  bytes.filter(byte => !isPlain(byte)).length / bytes.length;

const isPrintable = (byte: number): boolean => byte >= 32 && byte < 127;

const isText = (bytes: Buffer): boolean => {
  if (bytes.includes(0)) return false;
  if (bytes.length === 0 || isUtf8(bytes)) return true;
  return share(bytes, byte => isPrintable(byte) || [8, 9, 10, 12, 13].includes(byte)) <= 0.3;
};

const isBinary = (bytes: Buffer): boolean => {
  if (bytes.length === 0) return false;
  if (bytes.includes(0) || !isUtf8(bytes)) return true;
  return share(bytes, byte => isPrintable(byte) || [8, 9, 10, 13].includes(byte)) > 0.3;
};

/**
 * Returns the first address of a name that accepts connections at a port, or else the first; IPv6
 * in brackets.
 */
async function dnsCheck(
  ask: CallHost,
  name: Data,
  port: Data | undefined,
  _safe: Data | undefined,
  ipv6: Data | undefined,
): Promise<Data> {
  const found = toFilterString(await orNothing(ask('network.dig', [name])))
    .split('\n')
    .filter(text => parseIp(text) !== undefined);
  const version = isTrueData(ipv6) ? 6 : 4;
  const wanted =
    ipv6 === undefined || ipv6 === null
      ? found
      : found.filter(text => parseIp(text)?.version === version);
  const addresses = wanted.length === 0 && isTrueData(ipv6) ? found : wanted;
  const [first] = addresses;
  if (first === undefined)
    throw new TypeError(
      `the DNS lookup of '${toFilterString(name)}' on the host returned no address`,
    );
  for (const address of addresses) {
    const answer = await ask('network.connect', [address, port ?? null], new Map([['timeout', 2]]));
    if (isDict(answer) && answer.get('result') === true) return inBrackets(address);
  }
  return inBrackets(first);
}

const inBrackets = (address: string): string =>
  parseIp(address)?.version === 6 ? `[${address}]` : address;
