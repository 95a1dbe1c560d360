// Starts the single executable (scripts/build-sea.mjs): unpacks the package into the user's cache
// when this version runs for the first time, then runs the command line from there.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createRequire } = require('node:module');
const sea = require('node:sea');

const name = `program-${sea.getAsset('id', 'utf8')}`;
const executable = process.execPath;
const day = 24 * 3600 * 1000;
/** An unpacked version that has not run for so long is removed. */
const oldest = 30 * day;

/** Whether only this user can write here: what runs is read from this folder. */
const isPrivate = dir => {
  try {
    const stat = fs.lstatSync(dir);
    return stat.isDirectory() && stat.uid === process.geteuid() && (stat.mode & 0o77) === 0;
  } catch {
    return false;
  }
};

/** The asset is a list of paths, sizes and modes on its first line, and then the files. */
const unpack = to => {
  const packed = Buffer.from(sea.getRawAsset('package'));
  const all = require('node:zlib').brotliDecompressSync(packed);
  let at = all.indexOf('\n') + 1;
  for (const { file, size, mode } of JSON.parse(all.toString('utf8', 0, at))) {
    const target = path.join(to, file);
    fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    fs.writeFileSync(target, all.subarray(at, at + size), { flag: 'wx', mode });
    at += size;
  }
};

/** Removes versions that nobody runs any more, and what ended runs left half unpacked. */
const prune = cache => {
  for (const other of fs.readdirSync(cache)) {
    if (!/^program-[0-9a-f]{32}(?:\.\w+)?$/.test(other) || other === name) continue;
    const dir = path.join(cache, other);
    try {
      const age = Date.now() - fs.statSync(dir).mtimeMs;
      if (age > (other.includes('.') ? day : oldest))
        fs.rmSync(dir, { recursive: true, force: true });
    } catch {
      // Another run was faster.
    }
  }
};

/** Unpacks beside the final folder and renames: a folder of that name is always complete. */
const unpackInto = cache => {
  const dir = path.join(cache, name);
  const half = fs.mkdtempSync(`${dir}.`);
  try {
    unpack(half);
    fs.renameSync(half, dir);
  } catch (error) {
    fs.rmSync(half, { recursive: true, force: true });
    // Another run has unpacked it meanwhile.
    if (!isPrivate(dir)) throw error;
  }
  return dir;
};

const inCache = () => {
  const home = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const cache = path.join(home, 'tsalt-ssh');
  const dir = path.join(cache, name);
  if (isPrivate(cache) && isPrivate(dir)) {
    // Marks this version as used for other versions.
    if (Date.now() - fs.statSync(dir).mtimeMs > day) fs.utimesSync(dir, new Date(), new Date());
    return dir;
  }
  fs.mkdirSync(cache, { recursive: true, mode: 0o700 });
  if (!isPrivate(cache)) throw new Error(`${cache} is not private to this user (mode 0700)`);
  const made = unpackInto(cache);
  prune(cache);
  return made;
};

/** For a cache that cannot be used: a folder that is removed when the program ends. */
const inTemporary = cause => {
  for (const place of new Set([os.tmpdir(), '/dev/shm', '/var/tmp']))
    try {
      const dir = fs.mkdtempSync(path.join(place, 'tsalt-program-'));
      process.once('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
      unpack(dir);
      return dir;
    } catch {
      // The next place may have room.
    }
  process.stderr.write(
    `tsalt-ssh cannot unpack its program: ${cause.message}. Free some space, or name another folder by XDG_CACHE_HOME.\n`,
  );
  process.exit(73);
};

const locate = () => {
  try {
    return inCache();
  } catch (error) {
    return inTemporary(error);
  }
};

const root = locate();

/**
 * Child processes and hosts need a Node that runs what it is given. This executable is one as soon
 * as the mark that makes it run its own program is taken back, so that is done in a copy.
 */
const plainNode = () => {
  const node = path.join(root, 'node');
  if (fs.existsSync(node)) return node;
  const binary = fs.readFileSync(executable);
  // Not written as one word: Node's own text is the only place where the whole word may be found.
  const mark = Buffer.from(
    `${['NODE', 'SEA', 'FUSE', 'fce680ab2cc467b6e072b8b5df1996b2'].join('_')}:1`,
  );
  const at = binary.indexOf(mark);
  if (at < 0) throw new Error(`${executable} has no mark of a single executable`);
  binary[at + mark.length - 1] = '0'.charCodeAt(0);
  const half = `${node}.${process.pid}`;
  fs.writeFileSync(half, binary, { flag: 'wx', mode: 0o700 });
  fs.renameSync(half, node);
  return node;
};

Object.defineProperty(process, 'execPath', {
  configurable: true,
  enumerable: true,
  get: plainNode,
});
createRequire(path.join(root, 'dist', 'main.cjs'))('./tsalt-ssh.cjs');
