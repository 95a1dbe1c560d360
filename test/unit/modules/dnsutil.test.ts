import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import * as dig from '../../../src/modules/dns/exec/dig.ts';
import * as dnsutil from '../../../src/modules/dns/exec/dnsutil.ts';
import { contextOf, within } from '../../modules/_context.ts';

/** A name server on loopback: one address for www.example.com, two mail servers, nothing else. */
let server: Socket;
let nameserver: string;
let questions = 0;

const answers: Record<string, readonly Buffer[]> = {
  'www.example.com/1': [Buffer.from([192, 0, 2, 7])],
  'example.com/15': [mail(20, 'b'), mail(10, 'a')],
  'example.com/2': [named('ns1')],
  'alias.example.com/5': [named('www')],
  '7.2.0.192.in-addr.arpa/12': [named('www')],
  'example.com/16': [Buffer.concat([text('v=spf1'), text('-all')])],
  'spf.example.com/16': [
    text('other'),
    Buffer.concat([
      text('v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/3'),
      text('2 ~include:more.example.com +ip4:x -all'),
    ]),
  ],
  'wide.example.com/16': [
    Buffer.concat([text(`v=spf1${' include:wide.example.com'.repeat(8)}`), text(' ip4:192.0.2.1')]),
  ],
  'more.example.com/16': [text('v=spf1 redirect=last.example.com')],
  'last.example.com/16': [text('v=spf1 ip4:198.51.100.7 include:last.example.com ?all')],
};

function mail(priority: number, name: string): Buffer {
  return Buffer.from([0, priority, name.length, ...Buffer.from(name), 0]);
}

function named(name: string): Buffer {
  return Buffer.from([name.length, ...Buffer.from(name), 0]);
}

function text(value: string): Buffer {
  return Buffer.from([value.length, ...Buffer.from(value)]);
}

const reply = (query: Buffer): Buffer => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  const known = answers[`${labels.join('.').toLowerCase()}/${type}`] ?? [];
  const refused = labels[0] === 'broken' ? 5 : 0;
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180 | refused, 2);
  head.writeUInt16BE(known.length, 6);
  head.writeUInt32BE(0, 8);
  const records = known.map(data => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(60, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
};

beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    questions += 1;
    server.send(reply(query), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  nameserver = `127.0.0.1:${server.address().port}`;
});
afterAll(() => {
  server.close();
});

test('a name server is asked for addresses and mail servers', async () => {
  expect(await dnsutil.A('www.example.com', nameserver)).toEqual(['192.0.2.7']);
  expect(await dnsutil.AAAA('www.example.com', nameserver)).toEqual([]);
  expect(await dnsutil.MX('example.com', false, nameserver)).toEqual([
    [10, 'a'],
    [20, 'b'],
  ]);
});

test('a server that refuses is named', async () => {
  await expect(dnsutil.NS('broken.example.com', true, nameserver)).rejects.toThrow(
    `The name server ${nameserver} gave no answer for broken.example.com`,
  );
});

test('serial counts on from the number kept, or begins with the day', async () => {
  const kept: unknown[] = [];
  const serial = (grains: Record<string, string>, update?: boolean): Promise<string> =>
    within(
      contextOf(
        { grains: { setval: (key: string, value: string) => kept.push([key, value]) } },
        { grains },
      ),
      () => dnsutil.serial('z', update),
    );
  // Not the day of now, which may end meanwhile.
  vi.setSystemTime(new Date(2026, 1, 3, 23, 59));
  onTestFinished(() => void vi.useRealTimers());
  const first = '2026020301';
  expect(await serial({})).toBe(first);
  expect(await serial({ dnsserial_z: '2001010109' })).toBe('2001010109');
  expect(kept).toEqual([]);
  expect(await serial({ dnsserial_z: '2001010109' }, true)).toBe(first);
  expect(await serial({ dnsserial_z: first }, true)).toBe(String(Number(first) + 1));
  expect(kept).toEqual([
    ['dnsserial_z', first],
    ['dnsserial_z', String(Number(first) + 1)],
  ]);
});

test('dig answers as `dig +short` does, and with nothing where no server does', async () => {
  const asked = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);
  expect(await dig.A('www.example.com', nameserver)).toEqual(['192.0.2.7']);
  expect(await dig.mx('example.com', false, nameserver)).toEqual([
    ['20', 'b.'],
    ['10', 'a.'],
  ]);
  expect(await dig.NS('example.com', false, nameserver)).toEqual(['ns1.']);
  expect(await dig.CNAME('alias.example.com', nameserver)).toEqual(['www.']);
  expect(await dig.PTR('192.0.2.7', nameserver)).toEqual(['www.']);
  expect(await dig.TXT('example.com', nameserver)).toEqual(['"v=spf1" "-all"']);
  expect(await asked(() => dig.A('broken.example.com', nameserver))).toEqual([]);
});

test('dig.check_ip takes addresses and networks', async () => {
  const valid = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'];
  const invalid = ['x', '', '10.0.0.0/0', '10.0.0.0/33', '10.0.0.0/x', 'fd00::/7', '1.2.3'];
  for (const each of valid) expect(await dig.check_ip(each), each).toBe(true);
  for (const each of invalid) expect(await dig.check_ip(each), each).toBe(false);
});

test('a record that includes itself many times is not asked for without end', async () => {
  questions = 0;
  expect(await dig.SPF('wide.example.com', 'SPF', nameserver)).toContain('192.0.2.1');
  expect(questions).toBeLessThan(20);
});

test('the addresses that an SPF record allows are those of records that it includes, too', async () => {
  await within(contextOf({}), async () => {
    expect(await dnsutil.SPF('spf.example.com', 'SPF', nameserver)).toEqual([
      '192.0.2.0/24',
      '2001:db8::/32',
      ...Array(9).fill('198.51.100.7'),
    ]);
    expect(await dig.spf('www.example.com', 'TXT', nameserver)).toEqual([]);
  });
});

test('a network is an address for both modules', async () => {
  for (const [text, is] of Object.entries({ '192.0.2.1': true, '::1/64': true, '1.2.3': false })) {
    expect(await dnsutil.check_ip(text)).toBe(is);
    expect(await dig.check_ip(text)).toBe(is);
  }
});

test('a hosts file is read, gets names and loses them, and all else in it stays', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'tsalt-hosts-')), 'hosts');
  writeFileSync(path, '# c\n127.0.0.1\tlocalhost  lo\n\n10.0.0.1 a b\n10.0.0.1 c');
  expect(await dnsutil.parse_hosts(path)).toEqual({
    '127.0.0.1': ['localhost', 'lo'],
    '10.0.0.1': ['a', 'b', 'c'],
  });
  expect(await dnsutil.parse_hosts('/none', '::1 x\n')).toEqual({ '::1': ['x'] });
  expect(await dnsutil.parse_hosts('/none')).toBe('Error: hosts data was not found');
  expect(await dnsutil.hosts_append(path, '10.0.0.1', 'a,b,d')).toBe(
    `The following line was added to ${path}:\n10.0.0.1 d`,
  );
  expect(await dnsutil.hosts_append(path, '10.0.0.1', 'd,c')).toBe(
    `No additional hosts were added to ${path}`,
  );
  expect(await dnsutil.hosts_remove(path, 'a,c,lo')).toBe(null);
  expect(readFileSync(path, 'utf8')).toBe('# c\n127.0.0.1 localhost\n\n10.0.0.1 b\n10.0.0.1 d\n');
  await expect(dnsutil.hosts_remove('/none', 'a')).rejects.toThrow('/none cannot be read');
});

const zone = `$TTL 1d ; a day
@ IN SOA ns1.example.com. hostmaster.example.com. (
    2024010101 ; serial
    2H 30 4W 1d )
example.com. IN NS ns1.example.com.
  IN NS ns2
@ IN MX 10 mail.example.com.
@ IN MX 20 other.example.com.
www 3600 IN A 192.0.2.1
v6 60 IN AAAA ::1
ftp IN CNAME www
`;

test('a zone file is parsed as by Salt', async () => {
  // The result of Salt 3006.9.
  expect(await dnsutil.parse_zone(null, zone)).toEqual({
    TTL: '1d',
    ORIGIN: '@',
    NETWORK: 'IN',
    SOURCE: 'ns1.example.com.',
    CONTACT: 'hostmaster@example.com.',
    SERIAL: '2024010101',
    REFRESH: 7200,
    RETRY: 30,
    EXPIRE: 604_800,
    MINTTL: 86_400,
    NS: ['ns1.example.com.', 'ns2'],
    MX: [{ priority: '10', host: 'mail.example.com.' }],
    A: { 'www.@': { TARGET: '192.0.2.1', TTL: '3600' } },
    AAAA: { 'v6.@': { TARGET: '::1', TTL: '60' } },
    CNAME: { 'ftp.@': 'www' },
  });
  expect(await dnsutil.parse_zone('/none')).toBe('Error: Zone data was not found');
  await expect(dnsutil.parse_zone(null, 'a IN\n')).rejects.toThrow('makes no sense: a IN');
});
