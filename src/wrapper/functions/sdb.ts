import type { WrapperModule } from '../define.ts';

/** `sdb.*`: values of the stores that tsalt.yaml configures, read on the control node. */
export const sdb: WrapperModule = {
  doc: "Values, mostly secrets, of the stores that the configuration names: `sdb://PROFILE/KEY`. A profile is an option with `driver`: `env`, `file` (`dir`), `yaml` (`files`), `cmd` (`get`, `set`, `delete`: programs with `%s` for the key) or `vault`. Stores are opened on the control node; hosts cannot ask them.\n\nExample: `{{ salt['sdb.get']('sdb://myvault/secret/web/password') }}`",
  functions: {
    get: {
      doc: 'The value at an address. A value that is not an address of a profile is returned unchanged or, with `strict`, refused.\n\nExample: tsalt-ssh web1 sdb.get sdb://osenv/HOME strict=true',
      params: ['uri', ['strict', false]],
      work: ({ ctx, get, flag }) => ctx.sdb.get(get('uri'), flag('strict')),
    },
    set: {
      doc: 'Stores a value; false if it is not an address of a profile.\n\nExample: tsalt-ssh web1 sdb.set sdb://myvault/secret/web/password s3cret',
      params: ['uri', 'value'],
      changes: true,
      work: ({ ctx, get }) => ctx.sdb.set(get('uri'), get('value')),
    },
    delete: {
      doc: 'Removes a value; false if it did not exist.\n\nExample: tsalt-ssh web1 sdb.delete sdb://myvault/secret/web/password',
      params: ['uri'],
      changes: true,
      work: ({ ctx, get }) => ctx.sdb.delete(get('uri')),
    },
    get_or_set_hash: {
      doc: 'The value at an address; if it does not exist, a random string of `length` characters is stored.\n\nExample: tsalt-ssh web1 sdb.get_or_set_hash sdb://secrets/db-password 32',
      params: [
        'uri',
        ['length', 8],
        ['chars', 'abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)'],
      ],
      changes: true,
      work: ({ ctx, get, text }) =>
        ctx.sdb.getOrSetHash(get('uri'), {
          length: Number(get('length')),
          chars: text('chars'),
          store: !ctx.test,
        }),
    },
  },
};
