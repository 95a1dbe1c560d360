/** Syntax inside a tag or an output that exists in Jinja and not in Liquid. */
const signs: readonly RegExp[] = [
  /^%[-+]?\s*(?:set|from|import|macro|call|filter|do|with|elif|endset|endmacro|endcall|endfilter|endwith)\b/,
  /^%[-+]?\s*(?:el)?if\b.*\b(?:is\s+(?:not\s+)?\w+|not\s+in|in\s+[\w'"[(])/s,
  /^%[-+]?\s*for\s+\w+\s*,/,
  /^%[-+]?\s*for\s+\w+\s+in\s+(?:\[|[\w.]+\()/,
  // A call: pillar.get('x'), salt['cmd.run']('x'), x.items(), upper().
  /[\w\])]\(/,
  /\bloop\./,
  /~/,
  /\bif\b.+\belse\b/s,
  /^#/,
];

const parts = /\{([%{#][\s\S]*?)[%}#]\}/g;

/**
 * Whether this template looks like Jinja. Used when it fails as Liquid.
 *
 * @param text the whole template
 */
export const looksLikeJinja = (text: string): boolean => {
  for (const [, inside = ''] of text.matchAll(parts)) {
    const bare = inside.replace(/'[^']*'|"[^"]*"/g, "''");
    if (signs.some(sign => sign.test(bare))) return true;
  }
  return false;
};
