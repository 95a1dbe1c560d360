import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, type Dict, isDict, toPlain } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { IsHostString } from '../../render/secrets.ts';

type Decrypt = (data: Data, opts: Dict, file: string, said?: IsHostString) => Promise<Data>;

const renderers: Readonly<Record<string, () => Promise<Decrypt>>> = {
  gpg: async () => (await import('../../render/gpg.ts')).decryptGpg,
  age: async () => (await import('../../render/age.ts')).decryptAge,
};

/**
 * Salt's `decrypt_pillar`: decrypts the values at these keys of the whole pillar, from any source
 * except the host itself. Skips keys that this host's pillar does not have.
 *
 * @throws TsaltError `decrypt-pillar`: an undecryptable value must not reach a host
 */
export const decryptPillar = async (
  pillar: Dict,
  options: Dict,
  said?: IsHostString,
): Promise<void> => {
  const delimiter = String(options.get('decrypt_pillar_delimiter') ?? ':');
  for (const [path, renderer] of wishes(options)) {
    const keys = path.split(delimiter);
    const last = keys.pop() ?? '';
    const parent = keys.length === 0 ? pillar : traverse(pillar, keys.join(delimiter), delimiter);
    if (parent === noValue || !isDict(parent)) continue;
    const found = parent.get(last);
    if (found === undefined || found === null) continue;
    try {
      const decrypt = await decrypterOf(renderer, options);
      parent.set(last, await decrypt(found, options, `pillar ${path}`, said));
    } catch (error) {
      throw wrong(`pillar key '${path}' cannot be decrypted: ${messageOf(error)}`, error);
    }
  }
};

/** Keys and their renderers: a list of keys or of `key: renderer`, or a mapping. */
const wishes = (options: Dict): [string, string][] => {
  const given = toPlain(options.get('decrypt_pillar') ?? null);
  const usual = options.get('decrypt_pillar_default') ?? 'gpg';
  const entries = Array.isArray(given) ? given : given === null ? [] : [given];
  return entries.flatMap((entry): [string, string][] => {
    if (typeof entry === 'string') return [[entry, String(usual)]];
    if (!isPlainDict(entry)) throw wrong('the option must be a list of keys, or of key: renderer');
    return Object.entries(entry).map(([key, name]) => [key, String(name ?? usual)]);
  });
};

const decrypterOf = async (name: string, options: Dict): Promise<Decrypt> => {
  const allowed = toPlain(options.get('decrypt_pillar_renderers') ?? ['gpg']);
  const load = Object.hasOwn(renderers, name) ? renderers[name] : undefined;
  if (load && Array.isArray(allowed) && allowed.includes(name)) return await load();
  throw new Error(
    `decrypt_pillar_renderers allows no '${name}'; known are ${Object.keys(renderers).join(' and ')}`,
  );
};

const wrong = (what: string, cause?: unknown): TsaltError =>
  new TsaltError('decrypt-pillar', `decrypt_pillar: ${what.replace(/\.$/, '')}.`, {
    kind: 'pillar',
    cause,
  });
