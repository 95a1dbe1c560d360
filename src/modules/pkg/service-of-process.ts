import { readOr } from '../_shared/files/read-file.ts';

/** Returns the systemd services that processes belong to, according to their control groups. */
export const servicesOf = (pids: readonly number[]): string[] => {
  const names = pids.flatMap(pid => {
    const unit = /\/([^/\n]+)\.service(?:\/[^\n]*)?$/m.exec(
      readOr(`/proc/${pid}/cgroup`) ?? '',
    )?.[1];
    return unit === undefined ? [] : [unit];
  });
  return [...new Set(names)].sort();
};
