// Preloaded into a host's runtime: writes at its end how many promises it made, and which modules of
// the artifact it evaluated (their functions bear the names of their files).
const { createHook } = require('node:async_hooks');
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');

let promises = 0;
createHook({
  init: (_, type) => {
    if (type === 'PROMISE') promises += 1;
  },
}).enable();

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('exit', () => {
  const modules = [];
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error;
    for (const { url, functions } of coverage.result)
      if (/[0-9a-f]{64}\.js$/.test(url))
        for (const { functionName, ranges } of functions)
          if (/\.(?:ts|cjs)$/.test(functionName) && ranges[0].count > 0) modules.push(functionName);
  });
  writeFileSync(process.env.HOST_COUNTS, JSON.stringify({ promises, modules }));
});
