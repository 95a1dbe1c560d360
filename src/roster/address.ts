/** Ids are used in file names, targets and messages: letters, digits and `. _ - @ : +`. */
export const isId = (id: string): boolean =>
  id.length <= longestId &&
  (simple.test(id) || /^[\p{L}\p{N}_:][\p{L}\p{N}\p{M}._@:+-]*$/u.test(id));

/** Most ids, hosts and users: letters of all alphabets take a millisecond to compile. */
const simple = /^[a-zA-Z0-9_][a-zA-Z0-9._-]*$/;

/** Characters of an id. */
export const longestId = 255;

/** Returns the first character that an id cannot contain; undefined if only the order is wrong. */
export const unfitCharacter = (id: string): string | undefined =>
  /[^\p{L}\p{N}\p{M}._@:+-]/u.exec(id)?.[0];

/** A host name or address that no program can take for an option or a shell's syntax. */
export const isAddress = (host: string): boolean =>
  host.length <= 255 &&
  (simple.test(host) || /^[\p{L}\p{N}_:[][\p{L}\p{N}\p{M}._:%[\]-]*$/u.test(host));

/** A login name that no program can take for an option or a shell's syntax. */
export const isUser = (user: string): boolean =>
  user.length <= 255 &&
  (simple.test(user) || /^[\p{L}\p{N}_.][\p{L}\p{N}\p{M}._@+-]*\$?$/u.test(user));

export type LoginAddress = {
  readonly user?: string;
  readonly host: string;
  readonly port?: number;
};

const form =
  /^(?:ssh:\/\/)?(?:(?<user>.+)@)?(?:\[(?<v6>[^\]]+)\]|(?<host>[^:@[\]/]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.%a-z]*))(?::(?<port>\d{1,5}))?\/?$/;

/**
 * Reads `host`, `user@host`, `host:port`, `user@[v6]:port` or `ssh://…`.
 *
 * @returns undefined for anything else, or if it contains characters that ssh could interpret
 */
export const readAddress = (text: string): LoginAddress | undefined => {
  const groups = form.exec(text)?.groups;
  const host = groups?.v6 ?? groups?.host;
  if (groups === undefined || host === undefined || !isAddress(host)) return undefined;
  const { user } = groups;
  if (user !== undefined && !isUser(user)) return undefined;
  const port = groups.port === undefined ? undefined : Number(groups.port);
  if (port !== undefined && (port < 1 || port > 65535)) return undefined;
  return {
    host,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port }),
  };
};

/** Whether every hop of a `ProxyJump` chain is an address. */
export const isJumpChain = (chain: string): boolean =>
  chain === 'none' || chain.split(',').every(hop => readAddress(hop.trim()) !== undefined);
