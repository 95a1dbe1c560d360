import type { PlainDict } from '../../api.ts';
import { copyFile } from '../safe-fs/promises.ts';
import { salt } from '../states/call.ts';

/** A script from the file server, the web or the host, rendered where a template is named; false when there is none. */
export const fetchScript = async (
  source: string,
  path: string,
  {
    saltenv,
    template,
    context = {},
  }: { saltenv: string; template?: string | null | undefined; context?: PlainDict },
): Promise<boolean> => {
  if (template)
    return Boolean(await salt('cp.get_template')(source, path, template, { saltenv, context }));
  const cached: unknown = await salt('cp.cache_file')(source, saltenv);
  if (typeof cached !== 'string' || cached === '') return false;
  await copyFile(cached, path);
  return true;
};
