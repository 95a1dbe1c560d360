import { readGroups } from '../../../_shared/commands/accounts.ts';
import { isDir } from '../../../_shared/files/file-paths.ts';
import { salt } from '../../../_shared/states/call.ts';
import { type Description, describedState } from '../../../_shared/states/describe.ts';
import { gecosFields, type User } from '../../desired-user.ts';

/** All accounts with their numbers, groups, homes, shells and names. Passwords stay where they are. */
export const describe = async (): Promise<Description> => {
  const users: (User & { name: string })[] = await salt('user.getent')();
  const groups = await readGroups();
  return Object.fromEntries(
    users.map(({ name, ...user }) => {
      const primary = groups.find(group => group.gid === user.gid)?.name;
      const gecos = gecosFields.filter(field => user[field]).map(field => [field, user[field]]);
      return [
        name,
        describedState('user.present', {
          uid: user.uid,
          gid: user.gid,
          groups: user.groups.filter(group => group !== primary),
          home: user.home || undefined,
          createhome: user.home && !isDir(user.home) ? false : undefined,
          shell: user.shell || undefined,
          ...Object.fromEntries(gecos),
        }),
      ];
    }),
  );
};
