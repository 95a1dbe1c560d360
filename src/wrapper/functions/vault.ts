import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Vault } from '../../sdb/vault.ts';
import type { WrapperContext } from '../context.ts';
import type { WrapperModule } from '../define.ts';

/** Marks a missing default, since null is a valid one. */
const none = '\u0000';

const use = async <T>(
  ctx: WrapperContext,
  what: string,
  work: (vault: Vault) => Promise<T>,
): Promise<T> => {
  try {
    return await work(await ctx.sdb.vault());
  } catch (error) {
    const reason = messageOf(error);
    throw new TsaltError('vault', `Failed to ${what}: ${reason.replace(/\.$/, '')}.`, {
      kind: 'render',
      cause: error,
    });
  }
};

/** Returns what was found, or the default if it is set. */
const orDefault = async (fallback: Data, work: () => Promise<Data>): Promise<Data> => {
  if (fallback === none) return work();
  return work().catch(() => fallback);
};

const missing = (): never => {
  throw new Error('the secret does not exist');
};

/** `vault.*`: HashiCorp Vault's key-value secrets, read from the control node. */
export const vault: WrapperModule = {
  doc: "Secrets of HashiCorp Vault (KV version 1 and 2), asked from the control node by the option `vault` of tsalt.yaml: `url`, `namespace`, `verify`, `auth` with `method` `token`, `approle` or `wrapped_token`. VAULT_ADDR, VAULT_TOKEN, VAULT_NAMESPACE and VAULT_CACERT replace missing settings.\n\nExample: `{{ salt['vault.read_secret']('secret/web', 'password') }}`",
  functions: {
    read_secret: {
      doc: 'A secret, or one key of it; with `metadata`, also the metadata of version 2. `default` replaces an error.',
      params: ['path', ['key', null], ['metadata', false], ['default', none]],
      work: ({ ctx, get, text, flag }) =>
        orDefault(get('default'), () =>
          use(ctx, `read ${text('path')}`, async vault => {
            const key = get('key');
            const path = text('path');
            if (key === null && flag('metadata'))
              return (await vault.readWithMetadata(path)) ?? missing();
            const secret = (await vault.read(path)) ?? missing();
            if (key === null) return secret;
            return secret.get(key as string) ?? missing();
          }),
        ),
    },
    write_secret: {
      doc: 'Stores a secret: every keyword is a key of it.\n\nExample: tsalt-ssh web1 vault.write_secret secret/web user=foo password=bar',
      params: ['path'],
      anyKeyword: true,
      changes: true,
      work: ({ ctx, text, extra }) =>
        use(ctx, `write ${text('path')}`, vault => vault.write(text('path'), extra)),
    },
    write_raw: {
      doc: 'Stores a secret given as one mapping.',
      params: ['path', 'raw'],
      changes: true,
      work: ({ ctx, text, get }) =>
        use(ctx, `write ${text('path')}`, vault => vault.write(text('path'), mapping(get('raw')))),
    },
    delete_secret: {
      doc: 'Deletes a secret; in version 2, the newest version.',
      params: ['path'],
      changes: true,
      work: ({ ctx, text }) =>
        use(ctx, `delete ${text('path')}`, async vault => {
          await vault.delete(text('path'));
          return true;
        }),
    },
    destroy_secret: {
      doc: 'Destroys versions of a secret for good; only KV version 2 keeps them.\n\nExample: tsalt-ssh web1 vault.destroy_secret secret/web 1 2',
      params: ['path'],
      rest: true,
      changes: true,
      work: ({ ctx, text, rest }) =>
        use(ctx, `destroy ${text('path')}`, async vault => {
          if (!(await vault.isV2(text('path'))))
            throw new Error('only KV version 2 keeps versions');
          await vault.destroy(text('path'), rest.map(Number));
          return true;
        }),
    },
    list_secrets: {
      doc: 'The names below a path: `{keys: […]}`. `default` replaces an error.',
      params: ['path', ['default', none]],
      work: ({ ctx, text, get }) =>
        orDefault(get('default'), () =>
          use(
            ctx,
            `list ${text('path')}`,
            async vault => (await vault.list(text('path'))) ?? missing(),
          ),
        ),
    },
  },
};

const mapping = (raw: Data): Dict => {
  if (isDict(raw)) return raw;
  throw new Error('it must be a mapping');
};
