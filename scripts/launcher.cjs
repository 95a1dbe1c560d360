#!/usr/bin/env node
// Runs main.cjs from V8's code cache: compiling is a third of a short command's start.
// The cache is trusted by V8, so it is only read from a private directory of this user.
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const main = path.join(__dirname, 'main.cjs');
const cacheHome = process.env.XDG_CACHE_HOME || path.join(require('node:os').homedir(), '.cache');
const cacheDir = path.join(cacheHome, 'tsalt-ssh');

const privateDir = () => {
  try {
    const stat = fs.lstatSync(cacheDir);
    return stat.isDirectory() && stat.uid === process.getuid() && (stat.mode & 0o77) === 0;
  } catch {
    return false;
  }
};

const source = fs.readFileSync(main, 'latin1');
const stamp = fs.statSync(main).mtimeMs;
const key = `cli-${process.version}-${source.length}-${stamp}`.replace(/[^\w.-]/g, '_');
// Reading the cache takes time by its size: a state run needs functions that other calls do not.
const kind = process.argv.some(word => word.startsWith('state.')) ? 'state' : 'call';
const cacheFile = path.join(cacheDir, `${key}-${kind}.cache`);
let cachedData;
try {
  if (privateDir()) cachedData = fs.readFileSync(cacheFile);
} catch {
  // No cache yet: the run that ends now writes it.
}

const script = new vm.Script(
  `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
  { filename: main, cachedData },
);
/** A run that built an artifact has compiled what the next ones do not need. */
const hasBuilt = () => Object.keys(require.cache).some(file => /[\\/]esbuild[\\/]/.test(file));
if (cachedData === undefined || script.cachedDataRejected) {
  process.on('exit', () => {
    try {
      if (hasBuilt()) return;
      fs.mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
      if (!privateDir()) return;
      for (const name of fs.readdirSync(cacheDir))
        if (name.startsWith('cli-') && !name.startsWith(key)) fs.rmSync(path.join(cacheDir, name));
      const temporary = `${cacheFile}.${process.pid}`;
      fs.writeFileSync(temporary, script.createCachedData(), { mode: 0o600 });
      fs.renameSync(temporary, cacheFile);
    } catch {
      // A cache that cannot be written only costs time.
    }
  });
}
script.runInThisContext()(module.exports, require, module, main, __dirname);
