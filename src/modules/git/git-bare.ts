import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { failedAfter, gitMessage, sentences, upToDate } from './git-comments.ts';
import type { DesiredCheckout } from './git-latest.ts';
import { commitOf } from './git-local.ts';
import type { Refs } from './git-remote-rev.ts';

/** Makes the refs of a bare clone those of the remote. */
export const updateBare = async (
  ret: StateReturn,
  wanted: DesiredCheckout,
  refs: Refs,
): Promise<StateReturn> => {
  const { path, remote, user, login, force_fetch } = wanted;
  const old = await commitOf(path, 'HEAD', user);
  const next = refs.HEAD ?? null;
  if (__opts__.test) {
    const comment = `Bare repository at ${path} would be fetched`;
    return next === null || next === old
      ? upToDate(ret, path, [comment])
      : { ...ret, result: null, changes: { revision: { old, new: next } }, comment };
  }
  try {
    const changes: Record<string, unknown> = await __salt__['git.fetch'](path, {
      remote,
      refspecs: ['+refs/*:refs/*'],
      force: force_fetch,
      ...login,
    });
    const more = Object.keys(changes).length > 0 ? ', resulting in updated refs' : '';
    const comments = [`Bare repository at ${path} was fetched${more}`];
    const now = await commitOf(path, 'HEAD', user);
    if (now === old) return upToDate(ret, path, comments);
    return { ...ret, changes: { revision: { old, new: now } }, comment: sentences(comments) };
  } catch (error) {
    return failedAfter(
      ret,
      `Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. Output of the fetch command follows:\n\n${gitMessage(error)}`,
    );
  }
};
