import { listNft, nftFamily, nftName, runNft } from './nft.ts';

/** The result of functions that change nftables. */
export type NftResult = { result: boolean; comment: string };

/** Runs a command that changes something; a failure ends with what nft says. */
export const changeNft = async (
  args: readonly string[],
  done: string,
  failed: string,
): Promise<NftResult> => {
  const { code, stderr } = await runNft('--', ...args);
  const why = stderr.trim().split('\n')[0] ?? '';
  return code === 0
    ? { result: true, comment: done }
    : { result: false, comment: why === '' ? failed : `${failed} ${why}` };
};

export const tableResult = async (table: string, family: string): Promise<NftResult> => {
  if (!table) return { result: false, comment: 'Table needs to be specified' };
  const kind = nftFamily(family);
  const tables = await listNft('tables', kind);
  const isThere = tables.some(({ table: one }) => (one as { name?: string })?.name === table);
  return {
    result: isThere,
    comment: `Table ${table} in family ${family} ${isThere ? 'exists' : 'does not exist'}`,
  };
};

export const chainResult = async (
  table: string,
  chain: string,
  family: string,
): Promise<NftResult> => {
  if (!chain) return { result: false, comment: 'Chain needs to be specified' };
  const isThere = (await chainInfo(table, chain, family)) !== undefined;
  return {
    result: isThere,
    comment: `Chain ${chain} in table ${table} in family ${family} ${isThere ? 'exists' : 'does not exist'}`,
  };
};

/** A chain as nft describes it. Base chains have a type, a hook, a priority and a policy. */
export type NftChain = {
  readonly name: string;
  readonly type?: string;
  readonly hook?: string;
  readonly prio?: number;
  readonly policy?: string;
};

export const chainInfo = async (
  table: string,
  chain: string,
  family: string,
): Promise<NftChain | undefined> => {
  const found = await listNft(
    'chain',
    nftFamily(family),
    nftName(table, 'table'),
    nftName(chain, 'chain'),
  );
  return found.flatMap(({ chain: one }) => (one ? [one as NftChain] : []))[0];
};

/** Returns an error if a chain or its table does not exist. */
export const needChain = async (
  table: string,
  chain: string,
  family: string,
): Promise<NftResult | undefined> => {
  for (const answer of [await tableResult(table, family), await chainResult(table, chain, family)])
    if (!answer.result) return answer;
  return undefined;
};
