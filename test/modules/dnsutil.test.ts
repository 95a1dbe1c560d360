import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as dig from '../../src/modules/exec/dig.ts';
import * as dnsutil from '../../src/modules/exec/dnsutil.ts';
import { contextOf, within } from './_context.ts';

/** A name server on loopback: one address for www.example.com, two mail servers, nothing else. */
let server: Socket;
let nameserver: string;

const answers: Record<string, readonly Buffer[]> = {
  'www.example.com/1': [Buffer.from([192, 0, 2, 7])],
  'example.com/15': [mail(20, 'b'), mail(10, 'a')],
  'example.com/2': [named('ns1')],
  'alias.example.com/5': [named('www')],
  '7.2.0.192.in-addr.arpa/12': [named('www')],
  'example.com/16': [Buffer.concat([text('v=spf1'), text('-all')])],
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
  server.on('message', (query, { port, address }) => server.send(reply(query), port, address));
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
  const [today] = new Date().toLocaleDateString('sv').split(' ');
  const first = `${today?.replaceAll('-', '')}01`;
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
