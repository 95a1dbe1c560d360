import { readOr } from '../_shared/files/read-file.ts';

/** The services of systemd that processes belong to, as their control groups say. */
export const servicesOf = (pids: readonly number[]): string[] => {
  const names = pids.flatMap(pid => {
    const unit = /\/([^/\n]+)\.service(?:\/[^\n]*)?$/m.exec(
      readOr(`/proc/${pid}/cgroup`) ?? '',
    )?.[1];
    return unit === undefined ? [] : [unit];
  });
  return [...new Set(names)].sort();
};
