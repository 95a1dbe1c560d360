import { artifactHead } from '../protocol/stack.ts';

/**
 * What runs first on a host, by `node -e`: checks Node and the workspace, gets the artifact by
 * its hash (from the workspace, or from control), and runs it from V8's code cache. Written for
 * the oldest Node that may be found there, so that it can say that it is too old.
 *
 * Its argument is `LoaderConfig` as base64 JSON. What it says are marker lines; see
 * `conversation.ts`. The artifact runs as the body of `function (require, process, TS)`.
 * Node's own way to make folders with those above them never returns in /proc, so it makes each.
 * With `wipe`, all of a `thin_dir` that the user named stays but what is ours, and a workspace in
 * which another run works stays as a whole (`isFree`, which the artifact sets).
 */
export type LoaderConfig = {
  readonly sha: string;
  readonly size: number;
  /** Workspace of the roster (`thin_dir`), else the usual places. */
  readonly thin?: string;
  /** Added to the usual names: a workspace for this run only. */
  readonly suffix?: string;
  readonly wipe?: boolean;
  /** Octal umask of the runtime. */
  readonly umask?: string;
  /** Runs of one kind share a code cache: V8 reads it whole, so it holds what they use. */
  readonly kind?: string;
};

/** The frame that brings the artifact: only the loader knows this type. */
export const artifactFrame = 3;

const loaderSource = String.raw`
var fs = require("fs"), path = require("path"), os = require("os");
var config = JSON.parse((Buffer.allocUnsafe ? Buffer.from : Buffer)(process.argv[2], "base64").toString());
function pause() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2); }
function write(bytes) {
  for (var at = 0; at < bytes.length;) {
    try { at += fs.writeSync(1, bytes, at, bytes.length - at); }
    catch (error) { if (error.code !== "EAGAIN") throw error; pause(); }
  }
}
function say(what) { write((Buffer.allocUnsafe ? Buffer.from : Buffer)("\n\u0000TSALT1 " + JSON.stringify(what) + "\n")); }
function stop(code, message) { say({ error: code, message: message }); process.exit(1); }
function read(count) {
  for (var bytes = Buffer.alloc(count), at = 0; at < count;) {
    var got;
    try { got = fs.readSync(0, bytes, at, count - at, null); }
    catch (error) { if (error.code === "EAGAIN") { pause(); continue; } throw error; }
    if (got === 0) process.exit(4);
    at += got;
  }
  return bytes;
}
function sha256(bytes) { return require("crypto").createHash("sha256").update(bytes).digest(); }
function isSafe(dir) {
  function unsafe(what) { stop("workspace-unsafe", "The workspace " + dir + " " + what); }
  var error, made = "";
  for (var name of dir.slice(1).split("/"))
    try { error = fs.mkdirSync(made += "/" + name, 448); } catch (failure) { error = failure; }
  if (error && error.code !== "EEXIST") { tried.push(dir + ": " + error.code); return false; }
  var stat = fs.lstatSync(dir);
  if (stat.isSymbolicLink()) unsafe("is a symbolic link.");
  if (!stat.isDirectory()) unsafe("is no directory.");
  if (stat.uid !== process.geteuid()) unsafe("belongs to another user.");
  if (stat.mode & 18) unsafe("can be written by others.");
  if (stat.mode & 63) fs.chmodSync(dir, 448);
  try { fs.accessSync(dir, 3); } catch (error) { tried.push(dir + ": " + error.code); return false; }
  return true;
}
function readOwn(file) {
  var fd;
  try { fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW); }
  catch (error) { return; }
  try {
    var stat = fs.fstatSync(fd);
    if (!stat.isFile() || stat.uid !== process.geteuid() || stat.mode & 18) return;
    if (Date.now() - stat.mtimeMs > 864e5) try { fs.futimesSync(fd, new Date(), new Date()); } catch (error) {}
    return fs.readFileSync(fd);
  } finally { fs.closeSync(fd); }
}
function put(file, bytes) {
  var temporary = file + "." + process.pid + ".new";
  try {
    var fd = fs.openSync(temporary, "wx", 384);
    try { for (var at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at); fs.fsyncSync(fd); } finally { fs.closeSync(fd); }
    fs.renameSync(temporary, file);
    return true;
  } catch (error) {
    tried.push(file + ": " + error.code);
    try { fs.unlinkSync(temporary); } catch (gone) {}
    return false;
  }
}
function tidy(dir) {
  fs.readdirSync(dir).forEach(function (name) {
    if (!/^[0-9a-f]{64}\.js/.test(name)) return;
    try { if (Date.now() - fs.statSync(path.join(dir, name)).mtimeMs > 30 * 864e5) fs.unlinkSync(path.join(dir, name)); } catch (gone) {}
  });
}
function libc() {
  if (fs.existsSync("/lib64/ld-linux-x86-64.so.2") || fs.existsSync("/lib/ld-linux-aarch64.so.1")) return "glibc";
  try { return fs.readdirSync("/lib").some(function (name) { return /^ld-musl/.test(name); }) ? "musl" : "unknown"; } catch (error) { return "unknown"; }
}
var tried = [];
(function () {
  if (parseInt(process.versions.node, 10) < 18) {
    say({ need: "node", have: process.version, os: os.type(), arch: process.arch, libc: libc() });
    process.exit(0);
  }
  process.argv = [process.execPath, "tsalt-ssh"];
  var uid = process.geteuid(), suffix = config.suffix || "", home = process.env.HOME || os.homedir();
  var thin = config.thin && config.thin.replace(/^~(?=\/)/, home);
  var places = thin ? [thin + suffix] : [path.join(home, ".cache", "tsalt-ssh" + suffix), "/var/tmp/tsalt-ssh-" + uid + suffix, "/tmp/tsalt-ssh-" + uid + suffix];
  var dir, source, file, frames = [];
  for (var i = 0; i < places.length && !dir; i++) if (path.isAbsolute(places[i]) && isSafe(places[i])) dir = places[i];
  if (!dir) stop("workspace-missing", "There is no place for the workspace. Tried " + tried.join(", ") + ".");
  var shared = { sha: config.sha, dir: dir, suffix: suffix, wipe: !!config.wipe };
  if (config.wipe) process.on("exit", function () {
    var all = suffix ? places : thin ? [] : [dir];
    if (!suffix && !(shared.isFree && shared.isFree())) return;
    if (!all[0]) fs.readdirSync(dir).forEach(function (name) {
      if (/^([0-9a-f]{64}\.js.*|(node|pre-flight)-[0-9a-f]{64}|\.(node|pre-flight)-.*|run\.lock.*|reactions\.[0-9.]+|lost-run\.json|guard-[0-9a-f]{16})$/.test(name)) fs.rmSync(path.join(dir, name), { recursive: true, force: true });
    });
    all.forEach(function (place) { try { fs.rmSync(place, { recursive: true, force: true, maxRetries: 3 }); } catch (error) {} });
    try { if (!all[0]) fs.rmdirSync(dir); } catch (error) {}
  });
  file = path.join(dir, config.sha + ".js");
  source = readOwn(file);
  if (source && (source.length !== config.size || sha256(source).toString("hex") !== config.sha)) source = undefined;
  var cached = !!source;
  if (!source) {
    say({ need: "artifact" });
    for (;;) {
      var head = read(5), length = head.readUInt32BE(0);
      if (length > 67108868) stop("artifact-broken", "A frame of " + length + " bytes is too long.");
      var body = read(length);
      if (head[4] === ${artifactFrame}) break;
      frames.push(head, body);
    }
    try { source = require("zlib").brotliDecompressSync(body, { maxOutputLength: config.size + 1 }); }
    catch (error) { stop("artifact-broken", "The artifact did not arrive whole: " + error.message); }
    if (source.length !== config.size || sha256(source).toString("hex") !== config.sha) stop("artifact-hash", "The artifact has another hash than announced; it was not run.");
    if (!put(file, source)) file = undefined;
    else tidy(dir);
  }
  var cacheFile = file && file + "." + process.version + "-" + process.arch + (config.kind ? "-" + config.kind : "") + ".cache";
  var cache = cacheFile && readOwn(cacheFile), cachedData;
  if (cache && cache.length > 32 && sha256(cache.slice(32)).equals(cache.slice(0, 32))) cachedData = cache.slice(32);
  var script = new (require("vm").Script)("${artifactHead}" + source.toString() + "\n})", { filename: file || config.sha + ".js", cachedData: cachedData });
  if (cacheFile && !config.wipe && (!cachedData || script.cachedDataRejected))
    process.on("exit", function () { var data = script.createCachedData(); put(cacheFile, Buffer.concat([sha256(data), data])); });
  if (config.umask) process.umask(parseInt(config.umask, 8));
  say({ start: true, dir: dir, cached: cached, node: process.version, pid: process.pid });
  shared.pre = Buffer.concat(frames);
  script.runInThisContext()(require, process, shared);
})();
`;

/**
 * The loader as a text between single quotes in any login shell, for `decodeURIComponent`. It is
 * most of the command that starts a runtime, and dropbear takes no command of 9000 bytes.
 */
export const loaderWord = loaderSource
  .trim()
  .replace(/\n\s*/g, '\n')
  .replace(/[%'\\!\u0000-\u001f\u007f-\uffff]/g, character =>
    character === "'" ? '%27' : character === '!' ? '%21' : encodeURIComponent(character),
  );
