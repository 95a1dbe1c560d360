/** Milliseconds of a processor that this process has had: unlike time on the wall, no load adds to it. */
export const cpuTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
