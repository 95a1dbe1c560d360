#!/usr/bin/env node
// Runs main.cjs from V8's code cache: compiling is a third of a short command's start.
// The cache is trusted by V8, so it is only read from a private directory of this user.
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const main = path.join(__dirname, 'main.cjs');
// A user in no passwd file who has no HOME either, as in some containers, gets what Docker sets.
try {
  require('node:os').homedir();
} catch {
  process.env.HOME = '/';
}
const cacheHome = process.env.XDG_CACHE_HOME || path.join(require('node:os').homedir(), '.cache');
const cacheDir = path.join(cacheHome, 'tsalt-ssh');
const day = 24 * 3600 * 1000;
/** An install that has not run for so long has gone. */
const oldest = 30 * day;

const privateDir = () => {
  try {
    const stat = fs.lstatSync(cacheDir);
    return stat.isDirectory() && stat.uid === process.getuid() && (stat.mode & 0o77) === 0;
  } catch {
    return false;
  }
};

/** FNV-1a: crypto would take longer to load than all the rest. */
const hash = text => {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
};

const source = fs.readFileSync(main, 'latin1');
const stamp = fs.statSync(main).mtimeMs;
// Several installs share the directory; each replaces its own caches only.
const install = `cli-${hash(main)}-`;
const key = `${install}${process.version}-${source.length}-${stamp}`.replace(/[^\w.-]/g, '_');
const cacheOf = name => path.join(cacheDir, `${key}-${name}.cache`);

const readCache = cacheFile => {
  if (!privateDir()) return undefined;
  const fd = fs.openSync(cacheFile, 'r');
  try {
    const { mtimeMs } = fs.fstatSync(fd);
    // Marks this install as used for the other installs.
    if (Date.now() - mtimeMs > day) fs.futimesSync(fd, new Date(), new Date());
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
};

/** A run that built an artifact has compiled what the next ones do not need. */
const hasBuilt = () => Object.keys(require.cache).some(file => /[\\/]esbuild[\\/]/.test(file));

const prune = () => {
  for (const name of fs.readdirSync(cacheDir)) {
    if (!name.startsWith('cli-') || name.startsWith(key)) continue;
    const file = path.join(cacheDir, name);
    try {
      const replaced = name.startsWith(install);
      if (replaced || Date.now() - fs.statSync(file).mtimeMs > oldest) fs.rmSync(file);
    } catch {
      // Another run was faster.
    }
  }
};

/** V8 refuses a cache where flags differ; main.cjs, which sets some, has a function against that. */
const forCodeCache = work => (module.exports.forCodeCache ?? (call => call()))(work);

/**
 * Compiles a CommonJS program from its cache, and returns the function that runs it. A run without
 * a cache writes it when it ends.
 */
const compile = (program, filename, name, mayWrite = () => true) => {
  const cacheFile = cacheOf(name);
  let cachedData;
  try {
    cachedData = readCache(cacheFile);
  } catch {
    // No cache yet.
  }
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${program}\n})`;
  const script = forCodeCache(() => new vm.Script(wrapped, { filename, cachedData }));
  const write = () => {
    try {
      if (!mayWrite()) return;
      fs.mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
      if (!privateDir()) return;
      prune();
      const temporary = `${cacheFile}.${process.pid}`;
      const data = forCodeCache(() => script.createCachedData());
      fs.writeFileSync(temporary, data, { mode: 0o600 });
      fs.renameSync(temporary, cacheFile);
    } catch {
      // A cache that cannot be written only costs time.
    }
  };
  if (cachedData === undefined || script.cachedDataRejected) process.on('exit', write);
  return script.runInThisContext();
};

// Programs beside main.cjs (scripts/compressed-program.ts) find it at `require.main`.
module.compileCached = compile;
// Reading the cache takes time by its size: a state run needs functions that other calls do not.
const kind = process.argv.some(word => word.startsWith('state.')) ? 'state' : 'call';
compile(source, main, kind, () => !hasBuilt())(module.exports, require, module, main, __dirname);
void module.exports.runCommandLine();
