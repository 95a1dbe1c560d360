import { afterEach, expect, test } from 'vitest';
import { TsaltError } from '../../../src/protocol/error.ts';
import {
  encodeData,
  encodeFrame,
  encodeJson,
  type Frame,
  FrameDecoder,
} from '../../../src/protocol/frame.ts';
import { Peer } from '../../../src/protocol/peer.ts';
import {
  checkHostKey,
  knownKeyTypes,
  parseKnownHosts,
} from '../../../src/transport/known-hosts.ts';
import { parseSettings } from '../../../src/transport/ssh-config.ts';
import { readable } from '../../../src/transport/unreachable.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { seeded } from '../../helpers/random.ts';

// Seeded fuzzing of everything that reads bytes of a host or files of the user. `TSALT_FUZZ_RUNS`
// sets the number of inputs for each reader; CI asks for 100000.
const inputs = Number(process.env.TSALT_FUZZ_RUNS ?? (process.env.CI ? 100_000 : 5000));
const seed = Number(process.env.TSALT_SEED ?? 1);
const limit = 60_000 + inputs * 5;

const random = seeded(seed);
const below = (count: number): number => Math.floor(random() * count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256)));

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

const onlyFaults = (work: () => void): boolean => {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof TsaltError) return false;
    throw error;
  }
};

const words = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'polluted',
  'hello',
  '',
  '\0',
  'é',
  '1e9',
];
const value = (depth: number): unknown => {
  switch (below(depth > 0 ? 8 : 6)) {
    case 0:
      return below(1000) - 500;
    case 1:
      return pick(words);
    case 2:
      return null;
    case 3:
      return random() < 0.5;
    case 4:
      return random() * 1e308;
    case 5:
      return below(10);
    case 6:
      return Array.from({ length: below(3) }, () => value(depth - 1));
    default:
      return JSON.parse(`{${JSON.stringify(pick(words))}:${JSON.stringify(value(depth - 1))}}`);
  }
};

const message = (): unknown => {
  if (random() < 0.1) return value(3);
  const text = JSON.stringify({
    name: value(1),
    payload: value(2),
    method: value(1),
    params: value(2),
    value: value(1),
    content: value(0),
    error: value(2),
  });
  return {
    ...(JSON.parse(text) as object),
    t: pick(['req', 'res', 'end', 'evt', 'other', value(1)]),
    id: pick([1, 2, 3, value(1)]),
    name: pick(['log', 'ping', 'hello', ...words]),
    method: pick(['file.get', ...words]),
  };
};

const frame = (): Uint8Array => {
  switch (below(5)) {
    case 0:
      return bytes(below(40));
    case 1:
      return encodeFrame(pick([1, 2, 3 as 1, 0 as 1]), bytes(below(30)));
    case 2:
      return encodeData(below(5), bytes(below(30)));
    default:
      return encodeJson(message());
  }
};

const framesOf = (decoder: FrameDecoder, chunk: Uint8Array): Frame[] => {
  const frames: Frame[] = [];
  decoder.push(chunk);
  for (let next = decoder.next(); next; next = decoder.next()) frames.push(next);
  return frames;
};

const chunked = (whole: Buffer): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length; ) {
    const size = 1 + below(pick([1, 7, 100, 5000]));
    chunks.push(whole.subarray(at, at + size));
    at += size;
  }
  return chunks;
};

test(
  `frames: whatever the chunks, what goes in comes out (${inputs} inputs)`,
  () => {
    for (let n = 0; n < inputs; n++) {
      const payloads = Array.from({ length: 1 + below(3) }, () => bytes(below(50)));
      const types = payloads.map(() => pick([1, 2] as const));
      const whole = Buffer.concat(
        payloads.map((payload, index) => encodeFrame(types[index] ?? 1, payload)),
      );
      const decoder = new FrameDecoder();
      const frames = chunked(whole).flatMap(chunk => framesOf(decoder, chunk));
      if (
        frames.length !== payloads.length ||
        frames.some(
          ({ type, payload }, index) => type !== types[index] || !payloads[index]?.equals(payload),
        )
      )
        expect.fail(`input ${n} of seed ${seed}`);
    }
  },
  limit,
);

test(
  `frames: rubbish is a named fault or waits for more (${inputs} inputs)`,
  () => {
    let refused = 0;
    for (let n = 0; n < inputs; n++) {
      const decoder = new FrameDecoder();
      const whole = Buffer.concat(Array.from({ length: 1 + below(3) }, frame));
      const fine = onlyFaults(() => {
        for (const chunk of chunked(whole)) framesOf(decoder, chunk);
      });
      if (!fine) refused++;
    }
    expect(refused).toBeGreaterThan(inputs / 100);
  },
  limit,
);

test(`peer: any message is answered, refused or ends the wire, and nothing hangs (${inputs} inputs)`, {
  tags: 'slow',
  timeout: limit,
}, async () => {
  let ended = 0;
  for (let n = 0; n < inputs; n++) {
    const peer = new Peer({
      write: () => undefined,
      handlers: { 'file.get': params => params },
      events: { log: () => undefined, ping: () => undefined },
    });
    const open = [peer.request('a', {}), peer.request('b', {}, () => undefined)];
    for (const answer of open) answer.catch(() => undefined);
    const alive = onlyFaults(() => {
      for (let more = below(4); more >= 0; more--) void peer.receive(frame());
    });
    if (!alive) {
      ended++;
      expect(peer.closed).toBe(true);
    }
    peer.close(new TsaltError('over', 'Over.'));
    const settled = await Promise.allSettled(open);
    expect(settled).toHaveLength(2);
  }
  expect(ended).toBeGreaterThan(inputs / 10);
});

test(
  `known_hosts: any text gives a verdict (${inputs} inputs)`,
  () => {
    const keys = [newKey(), newKey('rsa'), newKey('ecdsa')].map(key => key.public);
    const key = Buffer.from(keys[0]?.split(' ')[1] ?? '', 'base64');
    const parts = [
      'web1',
      '*',
      '?',
      '!',
      ',',
      ' ',
      '\t',
      '|1|',
      '|',
      '@revoked',
      '@cert-authority',
      '#',
      '[web1]:22',
      '=',
      'ssh-ed25519',
      'AAAA',
      '\n',
      '\r',
      '\0',
      ...keys,
      ...words,
    ];
    for (let n = 0; n < inputs; n++) {
      const text = Array.from({ length: below(20) }, () =>
        random() < 0.05 ? bytes(below(20)).toString('latin1') : pick(parts),
      ).join(pick(['', ' ']));
      const address = {
        host: pick(['web1', '', '*', 'a'.repeat(300), '__proto__']),
        port: pick([22, 2222]),
      };
      let verdict = '';
      try {
        const entries = parseKnownHosts(text, 'fuzz');
        ({ verdict } = checkHostKey(entries, address, key));
        knownKeyTypes(entries, address);
      } catch (error) {
        expect.fail(`${String(error)} for ${JSON.stringify(text)}`);
      }
      if (!['known', 'unknown', 'changed', 'revoked'].includes(verdict)) expect.fail(text);
    }
  },
  limit,
);

test('known_hosts: a pattern made to be slow is not', () => {
  const text = `${'*a'.repeat(5000)}b ${newKey().public}`;
  const started = cpuTime();
  checkHostKey(
    parseKnownHosts(text, 'slow'),
    { host: 'a'.repeat(5000), port: 22 },
    Buffer.alloc(8),
  );
  expect(cpuTime() - started).toBeLessThan(2000);
});

test(
  `ssh -G: any answer is read (${inputs} inputs)`,
  () => {
    const parts = [
      'hostname',
      'port',
      'user',
      'proxyjump',
      'identityfile',
      'userknownhostsfile',
      ' ',
      '\n',
      '~',
      '"',
      'none',
      '22',
      '-1',
      ...words,
    ];
    for (let n = 0; n < inputs; n++) {
      const text = Array.from({ length: below(20) }, () => pick(parts)).join(pick(['', ' ']));
      const { port, identityFiles } = parseSettings(text, '/home/me');
      if (port !== undefined && !(port > 0)) expect.fail(text);
      if (!Array.isArray(identityFiles)) expect.fail(text);
    }
  },
  limit,
);

test(
  `text of a host reaches no terminal as control characters (${inputs} inputs)`,
  () => {
    for (let n = 0; n < inputs; n++) {
      const shown = readable(bytes(below(60)).toString(pick(['utf8', 'latin1'])), 50);
      if (/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(shown) || shown.length > 51)
        expect.fail(JSON.stringify(shown));
    }
  },
  limit,
);
