import { type Dict, isDict } from '../data/values/value.ts';
import { withoutEnd } from '../data/values/without-end.ts';
import type { RenderRequest } from './types.ts';

/**
 * Returns the variables of every template, with Salt's names (`salt.utils.templates.generate_sls_context`):
 * grains, pillar, opts, saltenv, sls, slspath, sls_path, slsdotpath, slscolonpath,
 * tplpath, tplfile, tpldir, tpldot, tplroot; then what the caller adds.
 */
export const templateVariables = (request: RenderRequest): Dict => {
  const { context, saltenv, sls } = request;
  const { grains, pillar, opts, extra } = context;
  const variables: Dict = new Map();
  variables.set('grains', grains).set('pillar', pillar).set('opts', opts).set('saltenv', saltenv);
  if (sls !== undefined) variables.set('sls', sls);
  placesOf(request).forEach((value, name) => void variables.set(name, value));
  if (isDict(extra)) extra.forEach((value, name) => void variables.set(name, value));
  return variables;
};

type Place = Pick<RenderRequest, 'file' | 'sls' | 'tplfile'>;

/** Where the template is, by Salt's names. */
const placesOf = ({ file, sls, tplfile }: Place): Places => {
  if (before?.file === file && before.sls === sls && before.tplfile === tplfile)
    return before.places;
  const name = tplfile ?? templateName(file, sls);
  const folder = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
  const places: Places = new Map([
    ['tplpath', file],
    ['tplfile', name],
    ['tpldir', folder === '' ? '.' : folder],
    ['tpldot', folder.replaceAll('/', '.')],
    ['tplroot', (folder || '.').split('/', 1)[0] ?? '.'],
    ['slspath', folder],
    ['slsdotpath', folder.replaceAll('/', '.')],
    ['slscolonpath', folder.replaceAll('/', ':')],
    ['sls_path', folder.replaceAll('/', '_')],
  ]);
  before = { file, sls, tplfile, places };
  return places;
};

/** Values by name. */
type Places = ReadonlyMap<string, string>;

/** States often render one template in a row. */
let before: (Place & { readonly places: Places }) | undefined;

const templateName = (file: string, sls: string | undefined): string => {
  const path = file.replaceAll('\\', '/').replace(/^salt:\/\//, '');
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (!sls) return path.startsWith('/') ? last : path;
  const slspath = withoutEnd(sls.replaceAll('.', '/'), '/');
  for (const end of [`${slspath}.sls`, `${slspath}/init.sls`])
    if (path === end || path.endsWith(`/${end}`)) return end;
  return path.startsWith('/') ? last : path;
};
