import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';

type Options = {
  filetype?: string;
  sel_type?: string | null;
  sel_user?: string | null;
  sel_level?: string | null;
};

/**
 * The policy has a rule for a file specification. `selinux.fcontext_policy_applied` labels files
 * by it.
 *
 * @param name the specification, a regular expression for paths
 * @param sel_type the type that the files get
 * @param filetype for this type of files: one of `a f d c b s l p`, all by default
 * @param sel_user their user
 * @param sel_level their level
 * @example
 * /srv/web(/.*)?:
 *   selinux.fcontext_policy_present:
 *     - sel_type: httpd_sys_content_t
 */
export const fcontext_policy_present = async (
  name: string,
  { sel_type, filetype = 'a', sel_user = null, sel_level = null }: Options & { sel_type: string },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const kind: string = await salt('selinux.filetype_id_to_string')(filetype);
    const wanted = { sel_type, sel_user, sel_level };
    const rule: { [part: string]: string } | null = await salt('selinux.fcontext_get_policy')(
      name,
      { filetype },
    );
    const differing = Object.entries(wanted).filter(
      ([part, value]) => value !== null && rule?.[part] !== value,
    );
    if (rule && differing.length === 0)
      return unchanged(
        name,
        `SELinux policy for "${name}" already present with specified filetype "${kind}" and sel_type "${sel_type}".`,
      );
    const fresh = Object.fromEntries(differing);
    const old = Object.fromEntries(differing.map(([part]) => [part, rule?.[part] ?? null]));
    const changes: PlainDict = rule
      ? { old: { [name]: old }, new: { [name]: fresh } }
      : { old: {}, new: { [name]: { filetype: kind, ...fresh } } };
    if (__opts__.test)
      return would(
        name,
        `SELinux policy for "${name}" is set to be ${rule ? 'changed' : 'added'}`,
        changes,
      );
    const done = await salt('selinux.fcontext_add_policy')(name, { filetype, ...wanted });
    return done.retcode === 0
      ? changed(name, '', changes)
      : failed(name, `Error adding new rule: ${done.stderr.trim()}`);
  });

/**
 * The policy has no rule of its own for a file specification.
 *
 * @param name the specification, as in the policy
 * @param filetype for this type of files: one of `a f d c b s l p`, all by default
 * @param sel_type only a rule with this type
 * @param sel_user only a rule with this user
 * @param sel_level only a rule with this level
 * @example
 * /srv/web(/.*)?:
 *   selinux.fcontext_policy_absent
 */
export const fcontext_policy_absent = async (
  name: string,
  { filetype = 'a', sel_type = null, sel_user = null, sel_level = null }: Options = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const which = { filetype, sel_type, sel_user, sel_level };
    const rule = await salt('selinux.fcontext_get_policy')(name, which);
    if (!rule)
      return unchanged(
        name,
        `SELinux policy for "${name}" already absent with specified filetype "${filetype}" and sel_type "${sel_type ?? 'None'}".`,
      );
    const changes: PlainDict = { old: { [name]: rule }, new: {} };
    if (__opts__.test)
      return would(name, `SELinux policy for "${name}" is set to be removed`, changes);
    const done = await salt('selinux.fcontext_delete_policy')(name, {
      ...which,
      sel_type: sel_type ?? rule.sel_type,
    });
    return done.retcode === 0
      ? changed(name, '', changes)
      : failed(name, `Error removing policy: ${done.stderr.trim()}`);
  });

/**
 * Files are labelled by the policy.
 *
 * @param name a path
 * @param recursive true: all below it too
 * @example
 * /srv/web:
 *   selinux.fcontext_policy_applied:
 *     - recursive: true
 */
export const fcontext_policy_applied = async (
  name: string,
  { recursive = false }: { recursive?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const due: string = await salt('selinux.fcontext_policy_is_applied')(name, recursive);
    if (due === '')
      return unchanged(name, `SElinux policies are already applied for filespec "${name}"`);
    if (__opts__.test) return would(name, due);
    const done = await salt('selinux.fcontext_apply_policy')(name, recursive);
    return done.retcode === 0
      ? changed(name, '', done.changes)
      : failed(name, `restorecon: ${done.stderr.trim()}`);
  });
