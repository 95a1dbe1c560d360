/**
 * An address and who logs in there: `https://name:password@host/` in two parts. A name alone is no
 * secret and stays where it is.
 */
export const splitLogin = (
  address: string,
): { url: string; https_user?: string; https_pass?: string } => {
  const parts = /^((?:https?|ftps?):\/\/)([^/?#\s]*):([^/?#\s]*)@(.*)$/is.exec(address);
  if (!parts) return { url: address };
  const [, scheme = '', userinfo = '', rest = '', after = ''] = parts;
  // A password may hold colons: the name ends at the first.
  const [name = '', ...more] = `${userinfo}:${rest}`.split(':');
  return {
    url: `${scheme}${after}`,
    https_user: decoded(name),
    https_pass: decoded(more.join(':')),
  };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A text without those who log in to its addresses. */
export const redact = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s]+@/gi, '$1<redacted>@');

const passwords = /(:\/\/)[^/?#@\s]*:[^/\s]*@|(https?:\/\/)[^/?#\s]+@/gi;

/** Whether an address has a password, or a token that stands alone before the host; `git@` of SSH is neither. */
export const hasPassword = (address: string): boolean => address.search(passwords) >= 0;

/** Redacts passwords and tokens in URLs. A user name alone stays, unless it is a token. */
export const redactPasswords = (text: string): string =>
  text.replace(passwords, (_, any?: string, web?: string) => `${any ?? web}<redacted>@`);
