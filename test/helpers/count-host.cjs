// Preloaded into a host's runtime: writes at its end how many promises it made, how many functions of
// the artifact it called, and which of Node's modules that load others it needed.
const { createHook } = require('node:async_hooks');
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

let promises = 0;
createHook({
  init: (_, type) => {
    if (type === 'PROMISE') promises += 1;
  },
}).enable();

const slow = 'child_process crypto fs/promises http net perf_hooks tls zlib'.split(' ');

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('exit', () => {
  let functions = 0;
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    for (const { url, functions: all } of coverage.result)
      if (/[0-9a-f]{64}\.js$/.test(url))
        functions += all.filter(({ ranges }) => ranges[0].count > 0).length;
  });
  const builtins = slow.filter(name => process.moduleLoadList.includes(`NativeModule ${name}`));
  writeFileSync(process.env.HOST_COUNTS, JSON.stringify({ promises, functions, builtins }));
});
