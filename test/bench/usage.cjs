// Preloaded: writes what the process used, so that it is measured without a wrapper.
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const { maxRSS } = process.resourceUsage();
  require('node:fs').writeFileSync(
    process.env.USAGE_FILE,
    JSON.stringify({ cpu: (user + system) / 1000, rss: maxRSS }),
  );
});
