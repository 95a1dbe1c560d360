import { tmpdir } from 'node:os';
import { discardTemp, fillTemp, openTemp } from '../_shared/files/atomic-write.ts';
import { contentOf } from '../_shared/files/file-content.ts';
import { keepAtExit, removeAtExit } from '../_shared/files/temporary.ts';
import { renameSync } from '../_shared/safe-fs/fs.ts';
import { __salt__, type PlainDict } from '../api.ts';
import { type DesiredFile, plannedChanges } from './managed-file.ts';

export type CheckFailed = { comment: string; skip_watch: true; result: false };

/** Runs a command with a file's path; true when it succeeds, else what the state answers. */
export const runCheckCmd = async (command: string, path: string): Promise<true | CheckFailed> => {
  const outcome = await __salt__['cmd.run_all']?.(`${command} ${path}`, { python_shell: true });
  if (outcome?.retcode === 0) return true;
  const lines = ['check_cmd execution failed', outcome?.stdout, outcome?.stderr];
  return { comment: lines.filter(Boolean).join('\n'), skip_watch: true, result: false };
};

/**
 * Shows new content to a `check_cmd` in a file of its own before it is put in place. Nothing
 * runs when the file would not change.
 */
export const checkContent = async (
  file: DesiredFile,
  command: string,
  dir: string,
  extension: string,
): Promise<DesiredFile | (CheckFailed & { changes: PlainDict })> => {
  const planned = await plannedChanges(file);
  if (Object.keys(planned).length === 0) return file;
  const content = file.source ? await file.source.content() : contentOf(file.contents ?? '');
  const bytes = content.bytes();
  content.discard();
  const temp = openTemp(dir || tmpdir(), 'check');
  const shown = { ...temp, path: temp.path + extension };
  try {
    fillTemp(temp, bytes);
    renameSync(temp.path, shown.path);
    keepAtExit(temp.path);
    removeAtExit(shown.path);
    const verdict = await runCheckCmd(command, shown.path);
    if (verdict !== true) return { ...verdict, changes: {} };
  } finally {
    discardTemp(shown);
  }
  const { source } = file;
  return source ? { ...file, source: { ...source, content: () => contentOf(bytes) } } : file;
};
