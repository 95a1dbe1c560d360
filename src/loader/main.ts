// The loader, which runs first on a host, by `node -e`. It checks Node and the workspace, gets the
// artifact by its hash (from the workspace, or from the control node), and runs its head
// (`protocol/artifact-head.ts`) from V8's code cache, as the body of `function (require, process, TS)`.
// Its output consists of marker lines (`bootstrap-exchange.ts`).
// biome-ignore-all lint/suspicious/noVar: the oldest Node on a host must parse it, to say that it is too old
// biome-ignore-all lint/style/useNodejsImportProtocol: as above
// biome-ignore-all lint/style/useTemplate: as above, and a template becomes a longer text
// biome-ignore-all lint/correctness/noInnerDeclarations: as above, there is no let
import type { ArtifactStart } from '../protocol/artifact-head.ts';
import type { LoaderConfig } from './config.ts';

type Failure = NodeJS.ErrnoException;
type Os = typeof import('node:os');

declare var ARTIFACT_FRAME: number;
declare var CODE_FRAME: number;
declare var ARTIFACT_HEAD: string;
declare var ARTIFACT_TAIL: string;

var fs: typeof import('node:fs') = require('fs');
var path: typeof import('node:path') = require('path');
// Node 4 has no Buffer.from.
var toBytes = ('allocUnsafe' in Buffer ? Buffer.from : Buffer) as typeof Buffer.from;
var config: LoaderConfig = JSON.parse(toBytes(String(process.argv[2]), 'base64').toString());
var tried: string[] = [];

function pause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}
function write(bytes: Buffer) {
  for (var at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at, bytes.length - at);
    } catch (error) {
      if ((error as Failure).code !== 'EAGAIN') throw error;
      pause();
    }
  }
}
function say(what: object) {
  write(toBytes('\n\u0000TSALT1 ' + JSON.stringify(what) + '\n'));
}
function stop(code: string, message: string): never {
  say({ error: code, message: message });
  process.exit(1);
}
function read(count: number): Buffer {
  for (var bytes = Buffer.alloc(count), at = 0; at < count; ) {
    var got = -1;
    try {
      got = fs.readSync(0, bytes, at, count - at, null);
    } catch (error) {
      if ((error as Failure).code !== 'EAGAIN') throw error;
      pause();
      continue;
    }
    if (got === 0) process.exit(4);
    at += got;
  }
  return bytes;
}
function sha256(bytes: Buffer): Buffer {
  var crypto: typeof import('node:crypto') = require('crypto');
  return crypto.createHash('sha256').update(bytes).digest();
}
function isSafe(dir: string): boolean {
  function unsafe(what: string): never {
    return stop('workspace-unsafe', 'The workspace ' + dir + ' ' + what);
  }
  if (!fs.existsSync(dir)) {
    var failure: Failure | undefined;
    var made = '';
    // Node's recursive mkdir never returns in /proc.
    dir
      .slice(1)
      .split('/')
      .forEach(name => {
        failure = undefined;
        made += '/' + name;
        try {
          fs.mkdirSync(made, 448);
        } catch (error) {
          failure = error as Failure;
        }
      });
    if (failure && failure.code !== 'EEXIST') {
      tried.push(dir + ': ' + failure.code);
      return false;
    }
  }
  var stat = fs.lstatSync(dir);
  if (stat.isSymbolicLink()) unsafe('is a symbolic link.');
  if (!stat.isDirectory()) unsafe('is not a directory.');
  if (stat.uid !== uid) unsafe('belongs to another user.');
  if (stat.mode & 18) unsafe('can be written by others.');
  if (stat.mode & 63) fs.chmodSync(dir, 448);
  try {
    fs.accessSync(dir, 3);
  } catch (error) {
    tried.push(dir + ': ' + (error as Failure).code);
    return false;
  }
  return true;
}
function hex(bytes: Buffer): string {
  return sha256(bytes).toString('hex');
}
/** Returns how many bytes of an artifact are its head. */
function headSize(start: Buffer, size: number): number {
  return Math.min(Number(start.toString('latin1', 2, 12)) || size, size);
}
/**
 * Reads a file of ours, or the head of an artifact, into place between two texts: what is large is
 * not copied.
 */
function readOwn(file: string, before: string, after: string): Buffer | undefined {
  try {
    // O_RDONLY is 0.
    var fd = fs.openSync(file, fs.constants.O_NOFOLLOW);
  } catch {
    return;
  }
  try {
    var stat = fs.fstatSync(fd);
    if (!stat.isFile() || stat.uid !== uid || stat.mode & 18) return;
    stamps.push(stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs);
    newest = Math.max(newest, stat.ctimeMs);
    if (Date.now() - stat.mtimeMs > 864e5)
      try {
        fs.futimesSync(fd, new Date(), new Date());
      } catch {}
    var size = stat.size;
    if (before) {
      var start = Buffer.alloc(12);
      fs.readSync(fd, start, 0, 12, 0);
      size = headSize(start, size);
    }
    var end = before.length + size;
    var bytes = Buffer.allocUnsafe(end + after.length);
    bytes.write(before);
    bytes.write(after, end);
    for (var at = before.length, got = 1; at < end && got > 0; at += got)
      got = fs.readSync(fd, bytes, at, end - at, at - before.length);
    return bytes;
  } finally {
    if (before) opened = fd;
    else fs.closeSync(fd);
  }
}
/** Does not sync: a file that a power cut damages has another hash. */
function put(file: string, bytes: Buffer): boolean {
  var temporary = file + '.' + process.pid + '.new';
  try {
    var fd = fs.openSync(temporary, 'wx', 384);
    try {
      for (var at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, file);
    return true;
  } catch (error) {
    tried.push(file + ': ' + (error as Failure).code);
    try {
      fs.unlinkSync(temporary);
    } catch {}
    return false;
  }
}
/** Removes artifacts that were not used for a month. */
function tidy(dir: string) {
  fs.readdirSync(dir).forEach(name => {
    if (!/^[0-9a-f]{64}\.js/.test(name)) return;
    var file = path.join(dir, name);
    try {
      if (Date.now() - fs.statSync(file).mtimeMs > 30 * 864e5) fs.unlinkSync(file);
    } catch {}
  });
}
function libc(): string {
  if (fs.existsSync('/lib64/ld-linux-x86-64.so.2') || fs.existsSync('/lib/ld-linux-aarch64.so.1'))
    return 'glibc';
  try {
    return fs.readdirSync('/lib').some(name => /^ld-musl/.test(name)) ? 'musl' : 'unknown';
  } catch {
    return 'unknown';
  }
}
/** Other encodings cost V8 a copy more. */
function textOf(bytes: Buffer): string {
  var buffer: typeof import('node:buffer') = require('buffer');
  return buffer.isAscii?.(bytes) ? bytes.toString('latin1') : bytes.toString();
}
function isArtifact(bytes: Buffer | undefined): boolean {
  return !!bytes && bytes.length === config.size && hex(bytes) === config.sha;
}
function unpack(packed: Buffer, most: number): Buffer {
  var zlib: typeof import('node:zlib') = require('zlib');
  return zlib.brotliDecompressSync(packed, { maxOutputLength: most });
}
/** Returns the artifact that the control node sends, and keeps the code cache that may precede it. */
function receive(): Buffer {
  say({
    need: 'artifact',
    grains: grains,
    // `engineHash` in `code-cache.ts`.
    engine: hex(toBytes(JSON.stringify([process.versions, process.config]))),
  });
  var packed: Buffer;
  var code: Buffer | undefined;
  for (;;) {
    var head = read(5);
    var length = head.readUInt32BE(0);
    if (length > 67108868) stop('artifact-broken', 'A frame of ' + length + ' bytes is too long.');
    packed = read(length);
    if (head[4] === ARTIFACT_FRAME) break;
    if (head[4] === CODE_FRAME) code = packed;
    else frames.push(head, packed);
  }
  var bytes: Buffer | undefined;
  try {
    bytes = unpack(packed, config.size + 1);
  } catch (error) {
    stop('artifact-broken', 'The artifact did not arrive whole: ' + (error as Failure).message);
  }
  if (!isArtifact(bytes))
    stop('artifact-hash', 'The artifact has another hash than announced; it was not run.');
  try {
    if (code) cache = unpack(code, 16777216);
    isSent = !!code;
  } catch {}
  return bytes as Buffer;
}
/** Removes only our files from a `thin_dir`, which the user named. */
function wipe() {
  var all = suffix ? places : thin ? [] : [dir];
  if (!suffix && !shared.isFree?.()) return;
  if (!all[0])
    all = fs
      .readdirSync(dir)
      .filter(name =>
        /^([0-9a-f]{64}\.js.*|(node|pre-flight)-[0-9a-f]{64}|\.(node|pre-flight)-.*|run\.lock.*|reactions\.[0-9.]+|lost-run\.json|guard-[0-9a-f]{16})$/.test(
          name,
        ),
      )
      .map(name => path.join(dir, name));
  all.forEach(place => {
    try {
      fs.rmSync(place, { recursive: true, force: true, maxRetries: 3 });
    } catch {}
  });
  try {
    fs.rmdirSync(dir);
  } catch {}
}

if (parseInt(process.versions.node, 10) < 18) {
  say({
    need: 'node',
    have: process.version,
    os: (require('os') as Os).type(),
    arch: process.arch,
    libc: libc(),
  });
  process.exit(0);
}
process.argv = [process.execPath, 'tsalt-ssh'];
var uid = (process.geteuid as () => number)();
var suffix = config.suffix || '';
var home = process.env.HOME || (require('os') as Os).homedir();
var thin = config.thin?.replace(/^~(?=\/)/, home);
var places = thin
  ? [thin + suffix]
  : [
      path.join(home, '.cache', 'tsalt-ssh' + suffix),
      '/var/tmp/tsalt-ssh-' + uid + suffix,
      '/tmp/tsalt-ssh-' + uid + suffix,
    ];
var frames: Buffer[] = [];
// The first that is safe: `some` ends there.
var dir = '';
places.some(place => {
  if (!path.isAbsolute(place) || !isSafe(place)) return false;
  dir = place;
  return true;
});
if (!dir)
  stop('workspace-missing', 'There is no place for the workspace. Tried ' + tried.join(', ') + '.');
if (config.wipe)
  process.on('exit', () => {
    try {
      wipe();
    } catch {}
  });
var tail = ARTIFACT_TAIL;
var file: string | false = '';
var cacheFile: string | false = '';
var program: Buffer | undefined;
var cache: Buffer | undefined;
// Hashing both files, and loading Node's crypto for it, takes longer than reading them. Files whose
// inode, size and times are those of an earlier check have not changed since: nobody sets a ctime.
var opened: number | undefined;
var stamps: number[] = [];
var newest = 0;
var own = '';
var isKnown = false;
/** The code cache came with the artifact: it lacks the functions that a run compiles. */
var isSent = false;
function find(): boolean {
  stamps = [];
  newest = 0;
  file = path.join(dir, config.sha + '.js');
  cacheFile =
    file +
    '.' +
    process.version +
    '-' +
    process.arch +
    (config.kind ? '-' + config.kind : '') +
    '.cache';
  program = readOwn(file, ARTIFACT_HEAD, tail);
  cache = readOwn(cacheFile, '', '');
  own = stamps.join();
  isKnown = !!program && !!cache && String(readOwn(cacheFile + '.checked', '', '')) === own;
  return isKnown || (!!program && isArtifact(fs.readFileSync(opened as number)));
}
var cached = find();
var grains = !cached && !!config.grains;
if (grains) {
  config = Object.assign(config, config.grains);
  cached = find();
}
var shared: ArtifactStart = {
  sha: config.sha,
  dir: dir,
  suffix: suffix,
  wipe: !!config.wipe,
  kind: config.kind,
};
if (!cached) {
  var source = receive();
  if (put(file as string, source)) tidy(dir);
  else file = false;
  program = Buffer.concat([
    toBytes(ARTIFACT_HEAD),
    source.slice(0, headSize(source, source.length)),
    toBytes(tail),
  ]);
  shared.bytes = source;
}
if (!file) cacheFile = false;
shared.file = file;
shared.opened = opened;
shared.cacheFile = cacheFile;
var cachedData =
  cache && cache.length > 32 && (isKnown || sha256(cache.slice(32)).equals(cache.slice(0, 32)))
    ? cache.slice(32)
    : undefined;
var vm: typeof import('node:vm') = require('vm');
var script = new vm.Script(textOf(program as Buffer), {
  filename: file || config.sha + '.js',
  cachedData: cachedData,
});
var isCompiled = !cachedData || !!script.cachedDataRejected;
if (cacheFile && !config.wipe && (isCompiled || isSent))
  process.on('exit', () => {
    var data = script.createCachedData();
    put(cacheFile as string, Buffer.concat([sha256(data), data]));
  });
else if (cached && !config.wipe && !isKnown && Date.now() - newest > (newest % 1e3 ? 100 : 3e3))
  // Younger files may change once more within one tick of their file system's clock: some
  // milliseconds, or two seconds where times are whole seconds.
  process.on('exit', () => {
    try {
      // From now on the files are not hashed: a power cut must not change them.
      [file, cacheFile].forEach(name => fs.fsyncSync(fs.openSync(name as string, 'r')));
      fs.writeFileSync(cacheFile + '.checked', own, { mode: 384 });
    } catch {}
  });
if (config.umask) process.umask(parseInt(config.umask, 8));
say({
  start: true,
  grains: grains,
  dir: dir,
  cached: cached,
  compiled: isCompiled,
  node: process.version,
  pid: process.pid,
});
shared.pre = Buffer.concat(frames);
script.runInThisContext()(require, process, shared);
