/**
 * Contains all uses of ssh2's private parts (1.17.0, pinned): faster signing, service request and
 * signed login in one flight, a reply that keeps sshd's output from waiting for our ACK, signs of
 * life, and a limit of decompressed packets. Each function checks the parts that it needs and does
 * nothing if they differ; the link is then slower but still correct.
 * test/host/transport/ssh2-tuning.test.ts fails when ssh2 changes.
 */
import { createPrivateKey, sign } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Client, ParsedKey } from 'ssh2';

type Handler = (protocol: Protocol, ...rest: unknown[]) => void;
type AuthPk = (
  this: Protocol,
  user: string,
  key: ParsedKey,
  algorithm?: string | Sign,
  sign?: Sign,
) => void;
type Sign = (data: Buffer, done: (signature: Buffer) => void) => void;
type Protocol = {
  authPK: AuthPk;
  service: (this: Protocol, name: string) => void;
  _handlers: Record<string, Handler | undefined>;
  _packetRW: {
    read: PacketReader;
    write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer };
  };
  _cipher: { encrypt(packet: Buffer): void };
};

type PacketReader = { read?: unknown; readonly _zlib?: { _maxOutputLength?: number } };

const digests: Readonly<Record<string, string | null>> = {
  'ssh-ed25519': null,
  'ecdsa-sha2-nistp256': 'sha256',
  'ecdsa-sha2-nistp384': 'sha384',
  'ecdsa-sha2-nistp521': 'sha512',
  'ssh-rsa': 'sha1',
};

/** Signs with a key object that is made once, instead of parsing the PEM for each signature. */
export const fastSign = (key: ParsedKey): ParsedKey => {
  const digest = Object.hasOwn(digests, key.type) ? digests[key.type] : undefined;
  if (digest === undefined) return key;
  try {
    const object = createPrivateKey(key.getPrivatePEM());
    key.sign = (data, algorithm) =>
      sign(algorithm ?? digest ?? undefined, Buffer.from(data), object);
  } catch {
    // For a key that Node cannot read, ssh2 signs itself.
  }
  return key;
};

/**
 * Sends the service request and the first public-key login, already signed, in one flight, which
 * saves two round trips. Call it directly after `client.connect()`, and only if the first login
 * method is the one configured key, since a refused signature counts as an attempt.
 * @returns whether ssh2 has the expected parts
 */
export const pipelineAuth = (client: Client): boolean => {
  const protocol = protocolOf(client);
  const accepted = protocol?._handlers.SERVICE_ACCEPT;
  if (!protocol || typeof accepted !== 'function') return false;
  if (typeof protocol.authPK !== 'function' || typeof protocol.service !== 'function') return false;
  if (!canIgnore(protocol)) return false;
  const { authPK, service } = protocol;
  let first = true;
  protocol.authPK = function (user, key, algorithm, signer) {
    if (!first || signer || typeof algorithm === 'function')
      return authPK.call(this, user, key, algorithm, signer);
    first = false;
    const rsa = key.type === 'ssh-rsa';
    // sshd's list of RSA hashes has not arrived yet; every OpenSSH since 7.2 accepts this one.
    return authPK.call(this, user, key, rsa ? 'rsa-sha2-512' : algorithm, (data, done) =>
      done(Buffer.from(key.sign(data, rsa ? 'sha512' : undefined))),
    );
  };
  let isCompressed = true;
  client.once('handshake', ({ cs }) => {
    isCompressed = cs.compress !== 'none';
  });
  let early = false;
  protocol.service = function (name) {
    service.call(this, name);
    early = true;
    accepted(this, name);
  };
  protocol._handlers.SERVICE_ACCEPT = (self, name) => {
    if (!early) accepted(self, name);
    // Where compression begins with the end of the login, sshd would take the message for compressed.
    else if (!isCompressed) sendIgnored(protocol);
    early = false;
  };
  return true;
};

/**
 * Sends a message that says nothing (SSH_MSG_IGNORE, RFC 4253, 11.2), which carries our ACK. Until a
 * session is open, sshd's socket uses Nagle's algorithm: what it has to say next would wait 40 ms for
 * a delayed ACK.
 */
const sendIgnored = (protocol: Protocol): void => {
  // Writer and cipher are replaced at each key exchange.
  const { write } = protocol._packetRW;
  const at = write.allocStart;
  const packet = write.alloc(5);
  packet[at] = 2;
  packet.writeUInt32BE(0, at + 1);
  protocol._cipher.encrypt(write.finalize(packet));
};

const canIgnore = ({ _packetRW }: Protocol): boolean =>
  typeof _packetRW?.write?.alloc === 'function';

/**
 * Answers messages that sshd sends before the session is open (host key list, debug lines) at once,
 * so that its channel confirmation does not wait for our ACK. ssh2's own proof request for the list is
 * not sent.
 * @returns whether ssh2 has the expected parts
 */
export const nudge = (client: Client): boolean => {
  const protocol = protocolOf(client);
  const handlers = protocol?._handlers;
  const { GLOBAL_REQUEST: global, CHANNEL_OPEN_CONFIRMATION: confirmed } = handlers ?? {};
  if (!protocol || !handlers || typeof global !== 'function' || typeof confirmed !== 'function')
    return false;
  if (!canIgnore(protocol)) return false;
  let open = false;
  const ignore = (): void => {
    if (!open) sendIgnored(protocol);
  };
  handlers.CHANNEL_OPEN_CONFIRMATION = (self, ...rest) => {
    open = true;
    confirmed(self, ...rest);
  };
  handlers.GLOBAL_REQUEST = (self, name, ...rest) => {
    if (name !== 'hostkeys-00@openssh.com') global(self, name, ...rest);
    ignore();
  };
  handlers.DEBUG = ignore;
  return true;
};

/** Milliseconds for which bytes count once: each time the timer is made anew. */
const oftenEnough = 1000;

/**
 * Takes every byte of a host for a sign of life. ssh2 itself waits for the answers to its keepalives,
 * which arrive behind everything that was sent before: on a slow link that is minutes.
 * @returns whether ssh2 has the expected parts
 */
export const liveByBytes = (client: Client, sock: Readable): boolean => {
  const { _resetKA: reset } = client as unknown as { _resetKA?: () => void };
  if (typeof reset !== 'function') return false;
  let last = performance.now();
  sock.on('data', () => {
    const now = performance.now();
    if (now - last < oftenEnough) return;
    last = now;
    reset();
  });
  return true;
};

/** Bytes of a packet: what OpenSSH takes at most. */
const longestPacket = 256 * 1024;

/**
 * Limits what a compressed packet may become: without a limit, one of 34 KB could fill 34 MB, over
 * and over, while all other hosts wait. A longer one ends the connection.
 * @returns whether ssh2 has the expected parts
 */
export const limitInflation = (client: Client): boolean => {
  const packets = protocolOf(client)?._packetRW;
  let reader = packets?.read;
  if (!packets || typeof reader?.read !== 'function') return false;
  // It is replaced after the login and by each key exchange.
  Object.defineProperty(packets, 'read', {
    get: () => reader,
    set: (next: PacketReader) => {
      if (next._zlib) next._zlib._maxOutputLength = longestPacket;
      reader = next;
    },
  });
  return true;
};

const protocolOf = (client: Client): Protocol | undefined => {
  const { _protocol } = client as unknown as { _protocol?: Protocol };
  return _protocol && typeof _protocol._handlers === 'object' ? _protocol : undefined;
};
