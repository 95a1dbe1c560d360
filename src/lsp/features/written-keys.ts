import { scanLines } from '../text/scan-lines.ts';
import type { Workspace } from '../workspace.ts';

const most = 2000;

/** Keys of pillar as the files have them, with `:` between: they are known without rendering. */
export const pillarKeysWritten = (workspace: Workspace): string[] => {
  const keys = new Set<string>();
  for (const saltenv of workspace.pillar.envs())
    for (const { path, kind } of workspace.slsFiles({ kind: 'pillar', saltenv })) {
      if (kind !== 'pillar') continue;
      for (const one of scanLines((workspace.text(path) ?? '').split('\n'))) {
        if (keys.size >= most) return [...keys];
        if (
          one.key !== undefined &&
          !one.isItem &&
          one.path[0] !== 'include' &&
          one.key !== 'include'
        )
          keys.add([...one.path, one.key].join(':'));
      }
    }
  return [...keys].filter(key => !key.includes('{'));
};
