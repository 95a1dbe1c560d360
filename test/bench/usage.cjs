// Preloaded: writes what the process used, so that it is measured without a wrapper. `held` is what
// is still in use at the end, where the collector may be called (`--expose-gc`).
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  require('node:fs').writeFileSync(
    process.env.USAGE_FILE,
    JSON.stringify({
      cpu: (user + system) / 1000,
      rss: maxRSS,
      held: (heapUsed + external) / 1024,
    }),
  );
});
